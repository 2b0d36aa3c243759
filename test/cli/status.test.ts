// holdfast status and holdfast calendar.
import assert from 'node:assert/strict'
import { stripVTControlCharacters } from 'node:util'
import { before, test } from 'node:test'
import { startHoldfast } from '../support/command.ts'
import { atShell, until } from './person.ts'

atShell('who has what', person => {
  before(async () => {
    await person.node('n1', 'gpu')
    await person.node('n2', 'gpu')
    await person.node('c1', 'cpu')
    const { nodes, allocations } = await person.library()
    await nodes.startMaintenance('c1', 'new fan')
    await allocations.create({ resource_class: 'gpu', name: 'job-1', expires_at: '2h', candidate_nodes: ['n1'] })
    await until(
      () => allocations.show('job-1'),
      ({ state }) => state === 'active',
    )
  })

  test('is a sentence, counts, and a row for each machine', async () => {
    const { code, stdout } = await person.looksAt('status', 80)
    assert.equal(code, 0)
    const shown = stripVTControlCharacters(stdout)
    assert.match(shown, /^1 of 3 machines is free; 1 taken, 1 in maintenance\.\n\nclass +all +free/)
    assert.match(shown, /^c1 +cpu +maintenance +- +new fan$/m)
    assert.match(shown, /^n1 +gpu +taken +(today|tomorrow) \d\d:\d\d +job-1$/m)
    assert.ok(stdout.includes('\u001b[34mtaken'), 'coloured, with the word')
  })

  test('filters choose, and say so when nothing is left', async () => {
    assert.match(await person.reads('status --class cpu'), /^0 of 1 machine of class cpu is free; 1 in maintenance\.\n/)
    assert.match(
      await person.reads('status --state free'),
      /^1 machine is free\.\n\nname +class +state\nn2 +gpu +free$/,
    )
    assert.match(await person.reads('status --class tpu'), /^No machine is like that\./)
    await person.isRefused('status --state hurt', 2, /Allowed choices are free, booked/)
  })

  test('programs get all that the server says, or rows', async () => {
    const { machines, waiting } = await person.readsJson('status')
    assert.deepEqual(
      machines.map(({ name, state }: { name: string; state: string }) => [name, state]),
      [
        ['c1', 'maintenance'],
        ['n1', 'taken'],
        ['n2', 'free'],
      ],
    )
    assert.deepEqual(waiting, [])
    assert.match(
      await person.reads('status -f csv'),
      /^name,class,state,who,project,what,since,until,next,note\nc1,cpu,/,
    )
    assert.equal(await person.reads('status -f value -c name -c state --class gpu'), 'n1 taken\nn2 free')
  })

  test('--watch draws it again when something has changed, and leaves the terminal as it was', async () => {
    const environment = { HOLDFAST_URL: person.origin, OS_CLOUD: '', HOME: '/nonexistent' }
    const watching = startHoldfast(['status', '--watch', '--class', 'gpu'], { environment, columns: 80 })
    const { stdout: said } = await until(
      async () => watching.said,
      ({ stdout }) => stdout.includes('Ctrl-C ends it'),
    )
    assert.match(stripVTControlCharacters(said), /1 of 2 machines of class gpu is free/)
    const { nodes } = await person.library()
    await nodes.startMaintenance('n2', 'dusty')
    await until(
      async () => watching.said.stdout,
      shown => shown.includes('dusty'),
    )
    await nodes.endMaintenance('n2')
    watching.signal('SIGINT')
    const { code, stdout } = await watching.exit
    assert.equal(code, 0)
    assert.match(stdout, /dusty/)
    assert.ok(stdout.endsWith('\u001b[?25h\u001b[?1049l'))
  })

  test('in a pipe, --watch prints rows again', async () => {
    const watching = person.begins('status --watch -f json --class gpu')
    await until(
      async () => watching.said.stdout,
      shown => shown.includes('n2'),
    )
    await (await person.library()).nodes.startMaintenance('n2', 'again')
    const last = async () => JSON.parse(watching.said.stdout.trim().split('\n').at(-1)!) as Record<string, unknown>
    assert.equal((await until(last, ({ reason }) => reason === 'again'))['state'], 'maintenance')
    watching.signal('SIGINT')
    assert.equal((await watching.exit).code, 0)
    await (await person.library()).nodes.endMaintenance('n2')
  })

  test('a calendar is drawn, as wide as the terminal', async () => {
    for (const columns of [40, 80, 120]) {
      const { code, stdout } = await person.looksAt('calendar --for 1d', columns)
      assert.equal(code, 0)
      const lines = stripVTControlCharacters(stdout).trimEnd().split('\n')
      for (const line of lines) assert.ok(line.length <= columns, line)
      assert.match(lines.join(' '), /machines (is|are) free all the time from today/)
      assert.ok(lines.some(line => /^ +[▼v] now$/.test(line)))
    }
  })

  test('it is plain ASCII where the locale is not UTF-8', async () => {
    const drawn = async (environment: Record<string, string>, more = '') =>
      (await person.types(`calendar --for 1d${more}`, { LC_ALL: '', LC_CTYPE: '', ...environment })).stdout
    assert.match(await drawn({ LANG: 'C' }), /^n1 +\.?[^\n]*#job-1#/m)
    assert.match(await drawn({ LANG: 'de_DE.UTF-8' }), /^n1 [^\n]*█job-1█/m)
    assert.match(await drawn({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }), /^[\x20-\x7e\n]*$/)
    assert.match(await drawn({ LANG: 'de_DE.UTF-8' }, ' --ascii'), /^[\x20-\x7e\n]*$/)
  })

  test('it is in the zone of the terminal, and says which', async () => {
    const { stdout } = await person.types('calendar --from 2030-07-01 --for 1d', { TZ: 'Asia/Tokyo' })
    assert.match(stdout, /from Mon 1 Jul 2030 00:00 to Tue 2 Jul 2030 00:00\. Times are those of Asia\/Tokyo/)
    assert.match(stdout, /^ +Mon 1 Jul$/m)
  })

  test('programs get a row for each promise', async () => {
    const rows = await person.readsJson('calendar')
    const job = rows.find(({ name }: { name: string }) => name === 'job-1')
    assert.deepEqual([job.machine, job.kind], ['n1', 'allocation'])
    assert.match(await person.reads('calendar -f csv'), /^machine,kind,name,who,project,start,end\n/)
    await person.isRefused('calendar --from whenever', 2, /is no time such as today/)
    await person.isRefused('calendar --for ages', 2, /is no duration such as/)
  })
})
