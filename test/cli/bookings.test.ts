// Bookings in people's words: machines of a class, extended, moved, and the next time that fits. A dry run is refused as
// the real command is, with the same words.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Holdfast } from '../../src/client/index.ts'
import { atShell, type Person, until } from './person.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

atShell('holdfast lease', (person: Person) => {
  let server: Holdfast
  /** A whole hour, far enough ahead that no test reaches it. */
  const base = Math.ceil(Date.now() / DAY_MS + 30) * DAY_MS
  const date = (hours: number) => new Date(base + hours * HOUR_MS).toISOString().slice(0, 16).replace('T', ' ')
  const iso = (hours: number) => `${date(hours).replace(' ', 'T')}:00Z`

  before(async () => {
    server = await person.library()
    for (const name of ['gpu-01', 'gpu-02', 'gpu-03']) await person.node(name)
    await person.node('cpu-01', 'cpu')
  })

  const refusal = async (line: readonly string[]) => {
    const { code, stderr, stdout } = await person.types(line)
    assert.equal(code, 4, `${line.join(' ')}: ${stdout}${stderr}`)
    return stderr
  }
  /** The words of the real command, which the dry run says too. */
  const refusedAlike = async (line: readonly string[]) => {
    const before = await server.leases.list()
    const real = await refusal(line)
    assert.equal(await refusal([...line, '--dry-run']), real)
    assert.deepEqual(await server.leases.list(), before)
    return real
  }
  const ended = async (...names: string[]) => {
    for (const name of names) await server.leases.delete((await server.leases.show(name)).id)
  }

  test('says which machines are not enrolled, and how to enrol them', async () => {
    const line = ['lease', 'create', 'course', '--nodes', 'gpu:3', '--start', iso(9), '--for', '2d']
    assert.match(
      await refusedAlike(line),
      /gpu: 3 machines, none of which can be booked yet: holdfast node leasable set gpu-01 gpu-02 gpu-03\n$/,
    )
    assert.match(
      await refusedAlike(['lease', 'create', 'course', '--nodes', 'tpu', '--for', '2d']),
      /there is no machine of class tpu\n$/,
    )
    await person.reads('node leasable set gpu-01 gpu-02')
    const said = await refusedAlike(line)
    assert.match(said, /2 of 3 gpu are free then; 1 more gpu can't be booked yet: holdfast node leasable set gpu-03/)
    // To enrol a machine without the trait would not help.
    assert.match(
      await refusedAlike([...line, '--trait', 'CUSTOM_NONE']),
      /there is no machine of class gpu with CUSTOM_NONE that can be booked; 1 gpu, whatever the traits, can't be/,
    )
    await person.reads('node leasable set gpu-03')
  })

  test('books machines of a class, and shows whose they are and which', async () => {
    const line = ['lease', 'create', 'course', '--nodes', 'gpu:2', '--start', iso(9), '--for', '2d']
    assert.match(await person.reads([...line, '--dry-run']), /^It would fit:\n.*\n0 +gpu-0\d +1\n0 +gpu-0\d +1$/)
    const made = await person.reads(line)
    assert.match(made, /what +2 gpu: gpu-0\d, gpu-0\d\n/)
    const [, row] = (await person.looksAt('lease list', 200)).stdout.split('\n')
    assert.match(row!, /course +anyone +2 gpu: gpu-0\d, gpu-0\d +.*PENDING/)
    const shown = await person.readsJson('lease show course')
    assert.deepEqual(
      [shown.start_date, shown.end_date].map(text => Date.parse(`${text}Z`)),
      [base + 9 * HOUR_MS, base + 57 * HOUR_MS],
    )
    await person.isRefused('lease create x --nodes gpu:0 --for 1d', 2, /'0' is no number above zero/)
    await person.isRefused('lease create x --nodes gpu:3-2 --for 1d', 2, /asks for more/)
    await person.isRefused('lease create x --trait CUSTOM_A --for 1d', 2, /say with --nodes/)
    await person.isRefused('lease create x --instances 3 --for 1d', 2, /--vcpus and --memory, or with --flavor/)
    await person.isRefused('lease create x --flavor m1 --for 1d', 2, /say with --instances how many/)
    await person.isRefused('lease create x --instances 3 --flavor m1 --vcpus 2 --for 1d', 2, /that of its --flavor/)
    await person.isRefused('lease create x --instances 3 --flavor m1 --for 1d', 2, /Flavor m1 could not be found/)
    await person.isRefused('lease create x --nodes gpu --for 1d --until 2h', 2, /say --until when, or --for how long/)
    await ended('course')
  })

  test('extends and moves a lease; refusals name the machine, the times and the lease in the way', async () => {
    const book = (name: string, from: number, hours: number, nodes: string) =>
      person.reads(['lease', 'create', name, '--nodes', nodes, '--start', iso(from), '--for', `${hours}h`])
    await book('mine', 9, 3, 'gpu:3')
    await book('course-7', 14, 3, 'gpu:1')
    const { reservations } = await server.leases.show('course-7')
    const [taken] = reservations[0]!['nodes'] as { name: string }[]
    const said = await refusedAlike(['lease', 'extend', 'mine', '4h'])
    assert.match(
      said,
      new RegExp(`2 of 3 gpu are free then; ${taken!.name} is booked from .* 14:00 UTC to .* by course-7`),
    )
    assert.match(said, /\(you can have it until .* 14:00 UTC\)/)
    assert.match(await refusedAlike(['lease', 'move', 'mine', '--start', iso(15)]), /it fits from .* 17:00 UTC to/)
    assert.match(
      await person.reads(['lease', 'extend', 'mine', '2h', '--dry-run']),
      /^mine would be from .* to .* 14:00/,
    )
    assert.match(
      await person.reads(['lease', 'extend', 'mine', '2h']),
      /^mine is from .* 14:00 UTC, with 3 gpu: gpu-01,/,
    )
    assert.match(await person.reads(['lease', 'move', 'mine', '--start', iso(17)]), /^mine is from .* 17:00 UTC to/)
    assert.match(
      await refusedAlike(['lease', 'move', 'course-7', '--start', iso(17)]),
      /gpu-01, gpu-02, gpu-03 are booked from .* 17:00 UTC to .* 22:00 UTC by mine/,
    )
    await person.isRefused('lease extend mine', 2, /say by how much/)
    await person.isRefused(['lease', 'extend', 'mine', '--until', iso(18)], 2, /lasts until .* already/)
    await ended('mine', 'course-7')
  })

  test('--next takes the first time that fits; many at once all get one, and never the same', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `turn-${i}`)
    const line = (name: string) => [
      'lease',
      'create',
      name,
      '--nodes',
      'gpu:2',
      '--start',
      iso(100),
      '--for',
      '1h',
      '--next',
      '-f',
      'json',
    ]
    assert.match(await person.reads([...line('dry').slice(0, -2), '--dry-run']), /^It would fit:/)
    const exits = await Promise.all(names.map(name => person.types(line(name))))
    const starts = exits.map(({ code, stdout, stderr }) => {
      assert.equal(code, 0, stderr)
      return Date.parse(`${JSON.parse(stdout).start_date}Z`)
    })
    assert.deepEqual(
      starts.toSorted((a, b) => a - b),
      names.map((_, i) => base + (100 + i) * HOUR_MS),
    )
    const told = await person.reads([...line('dry').slice(0, -2), '--dry-run'])
    assert.match(told, /^It would be booked from .* 10:00 UTC to .* 11:00 UTC\.\nIt would fit:/)
    await ended(...names)
    await person.isRefused(
      ['lease', 'create', 'never', '--nodes', 'gpu:9', '--start', iso(100), '--for', '1h', '--next'],
      4,
      /3 of 9 gpu are free then\n$/,
    )
    assert.equal((await server.fsck()).violations, 0)
  })

  test('an allocation is extended until its machine is booked', async () => {
    await person.reads(
      `allocation create --resource-class gpu --candidate-node gpu-01 --name job --expires-at 1h --wait`,
    )
    await person.reads(['allocation', 'note', 'job', 'until the paper is out'])
    await server.leases.create({
      name: 'week',
      start_date: date(0),
      end_date: date(24),
      reservations: [{ resource_type: 'physical:node', resource_class: 'gpu', min: 3, max: 3 }],
    })
    const before = await server.allocations.show('job')
    assert.equal(before.note, 'until the paper is out')
    assert.match(await person.reads('allocation extend job 2h --dry-run'), /^job would last until /)
    assert.deepEqual(await server.allocations.show('job'), before)
    assert.match(await person.reads('allocation extend job 2h'), /^job lasts until /)
    const after = await server.allocations.show('job')
    assert.equal(Date.parse(after.expires_at!), Date.parse(before.expires_at!) + 2 * HOUR_MS)
    const said = await refusal(['allocation', 'extend', 'job', '--until', iso(1)])
    assert.match(
      said,
      /gpu-01 is enrolled for leasing and booked from .* 00:00 UTC by lease week; it can be had until then/,
    )
    assert.equal(await refusal(['allocation', 'extend', 'job', '--until', iso(1), '--dry-run']), said)
    await person.isRefused('allocation extend job', 2, /say by how much/)
    assert.match(await person.reads('allocation note job --clear'), /^job: no note$/)
    await server.allocations.delete('job')
    await ended('week')
  })

  test('kicks whoever has a machine, and says who is told; what else has it is named, with what helps', async () => {
    const kicking = (node: string, ...more: string[]) => [
      'node',
      'kick',
      node,
      '--message',
      'the demo needs it',
      ...more,
    ]
    const kick = (...more: string[]) => kicking('gpu-02', ...more)
    assert.match(await refusal(kick()), /gpu-02 is not in use: nobody has it/)
    const keeper = 'alice@laptop/0123456789abcdef'
    const make = (more: object) =>
      server.allocations.create({ resource_class: 'gpu', candidate_nodes: ['gpu-02'], expires_at: '1h', ...more })
    const active = async (name: string) =>
      until(
        () => server.allocations.show(name),
        ({ state }) => state === 'active',
      )
    await make({ name: 'plain' })
    await active('plain')
    assert.match(await person.reads(kick('--dry-run')), /^plain would be ended, and gpu-02 would be free\. Nobody runs/)
    assert.match(await person.reads(kick()), /^plain is ended, and gpu-02 is free\. Nobody runs a command there/)
    await make({ name: 'kept', keeper })
    await active('kept')
    assert.match(
      await person.reads(kick('--dry-run')),
      /^alice@laptop would be told\. gpu-02 would be free when they let go, or/,
    )
    assert.match(
      await person.reads(kick()),
      /^alice@laptop is told: the demo needs it\. gpu-02 is free when they let go, or at /,
    )
    assert.equal((await server.allocations.show('kept')).ending!.message, 'the demo needs it')
    await server.allocations.delete('kept', { keeper })
    const held = await server.reservations.create({
      instance_uuid: crypto.randomUUID(),
      node_uuid: ['cpu-01'],
      expires_at: '1h',
    })
    assert.match(
      await refusal(kicking('cpu-01')),
      new RegExp(`cpu-01 is held by reservation ${held.uuid} .*reservation delete ${held.uuid}`),
    )
    await server.reservations.delete(held.uuid)
    await person.reads('lease create now --nodes gpu:3 --for 1h --wait')
    assert.match(await refusal(kick()), /gpu-02 is of lease now \(to end the lease: holdfast lease delete now\)/)
    await ended('now')
  })

  test('a note on a machine is its description', async () => {
    assert.equal(await person.reads(['node', 'note', 'gpu-03', 'the fan is loud']), 'gpu-03: the fan is loud')
    assert.equal((await server.nodes.show('gpu-03'))['description'], 'the fan is loud')
    assert.equal(await person.reads('node note gpu-03 --clear'), 'gpu-03: no note')
    await person.isRefused('node note gpu-03', 2, /say what to note, or --clear/)
    assert.equal((await server.nodes.show('gpu-03'))['description'], null)
  })
})
