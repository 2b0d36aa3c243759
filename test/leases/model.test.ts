// Random lives of leases against brute force: leases are made, changed, deleted, and time passes;
// after each step every instant of every host is looked at, and what was refused is known not to fit.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { dateAt, instances, Reservation, type Shown, wholeHosts } from '../support/reservation.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { chance } from '../races/clients.ts'

const MINUTE_MS = 60_000
const STEPS = 60
const SEEDS = Math.ceil(Number(process.env['HOLDFAST_RUNS'] ?? 1500) / 750)

interface Size {
  vcpus: number
  memory_mb: number
  disk_gb: number
  /** Of each of CLASSES. */
  extras: Record<string, number>
}

const CLASSES = ['CUSTOM_GPU', 'CUSTOM_FPGA']

/** A step is to begin before this part of a minute: then it ends in the same minute, on a slow machine too. */
const EARLY_MS = 10_000

/** What one slot of a reservation takes, by a name of a size or class. */
function takenBy(wish: Shown, name: string): number {
  if (wish.resource_type !== 'flavor:instance') return wish[name] ?? 0
  const { vcpus, ram, disk, extra_specs } = wish.source ?? JSON.parse(wish.resource_properties)
  return { vcpus, memory_mb: ram, disk_gb: disk }[name] ?? Number(extra_specs[`resources:${name}`] ?? 0)
}

const NAMES = ['vcpus', 'memory_mb', 'disk_gb', ...CLASSES]
const has = (size: Size, name: string): number => (size as unknown as Shown)[name] ?? size.extras[name] ?? 0

/** A lease as the server shows it, in minutes. */
interface Known {
  id: string
  status: string
  start: number
  end: number
  reservations: Shown[]
}

const minute = (date: string) => Date.parse(`${date}Z`) / MINUTE_MS

class World {
  readonly api: Reservation
  readonly hosts = new Map<string, Size>()
  readonly #random: (below: number) => number

  constructor(api: Reservation, random: (below: number) => number) {
    this.api = api
    this.#random = random
  }

  pick<T>(list: readonly T[]): T {
    return list[this.#random(list.length)]!
  }

  below(limit: number): number {
    return this.#random(limit)
  }

  /**
   * Time passes between the requests of a step, too. At a full minute leases become due: one that the duty has not
   * ended yet is still in the way, which brute force can't know, and a start that was now is in the past. So a step
   * begins early in a minute, with nothing due.
   */
  async beEarly(): Promise<void> {
    const late = (await this.api.now()) % MINUTE_MS
    await this.api.advance(late < EARLY_MS ? 0 : (MINUTE_MS - late) / MINUTE_MS)
  }

  async leases(): Promise<Known[]> {
    const { leases } = expectStatus(await this.api.get('/leases'), 200).body
    return leases.map((lease: Shown) => ({
      id: lease.id,
      status: lease.status,
      start: minute(lease.start_date),
      end: minute(lease.end_date),
      reservations: lease.reservations,
    }))
  }

  /** What is booked of each host at an instant, and whether someone has all of it. */
  async use(except: string | null = null) {
    const leases = (await this.leases()).filter(({ id, status }) => id !== except && status !== 'TERMINATED')
    const slots = await this.api.slots()
    return (host: string, at: number) => {
      const use = { of: Object.fromEntries(NAMES.map(name => [name, 0])), whole: 0, parts: 0 }
      for (const { start, end, reservations } of leases) {
        if (at < start || at >= end) continue
        for (const one of reservations) {
          const count = slots[host]?.[one.id] ?? 0
          if (count === 0) continue
          if (one.resource_type === 'physical:host') use.whole++
          else {
            use.parts += count
            for (const name of NAMES) use.of[name]! += takenBy(one, name) * count
          }
        }
      }
      return use
    }
  }

  async check(): Promise<void> {
    const use = await this.use()
    const starts = [...new Set((await this.leases()).map(({ start }) => start))]
    for (const [host, size] of this.hosts) {
      for (const at of starts) {
        const { whole, parts, of: used } = use(host, at)
        assert.ok(whole <= 1 && (whole === 0 || parts === 0), `${host} is leased twice`)
        for (const name of NAMES) {
          assert.ok(used[name]! <= has(size, name), `${host} has ${has(size, name)} ${name}, ${used[name]} are booked`)
        }
      }
    }
    const before = await this.leases()
    const classes = new Set(await this.api.classes())
    // A lease may start or end between two requests.
    const now = new Map((await this.leases()).map(({ id, status }) => [id, status]))
    for (const { id, status, reservations } of before) {
      if (now.get(id) !== status) continue
      for (const one of reservations) {
        const name = `CUSTOM_RESERVATION_${one.id.toUpperCase().replaceAll('-', '_')}`
        assert.equal(classes.has(name), status !== 'TERMINATED', `${status} and its class`)
      }
    }
    await this.api.fsck()
  }

  /** Whether one wish fits into a window, found out instant by instant and host by host. */
  async wouldFit(wish: Shown, start: number, end: number): Promise<boolean> {
    const use = await this.use()
    const { hosts } = expectStatus(await this.api.get('/os-hosts'), 200).body
    const open: string[] = hosts.filter((host: Shown) => host.reservable).map((host: Shown) => host.hypervisor_hostname)
    const room = open.map(host => {
      const size = this.hosts.get(host)!
      let slots = Infinity
      for (let at = start; at < end; at++) {
        const { whole, parts, of: used } = use(host, at)
        if (wish.resource_type === 'physical:host') slots = Math.min(slots, whole + parts > 0 ? 0 : 1)
        else if (whole > 0) slots = 0
        else {
          for (const name of NAMES.filter(name => takenBy(wish, name) > 0)) {
            slots = Math.min(slots, Math.floor((has(size, name) - used[name]!) / takenBy(wish, name)))
          }
        }
      }
      return slots
    })
    if (wish.resource_type === 'physical:host') return room.filter(slots => slots > 0).length >= wish.min
    if (wish.affinity === true) return room.some(slots => slots >= wish.amount)
    const each = wish.affinity === false ? room.map(slots => Math.min(slots, 1)) : room
    return each.reduce((sum, slots) => sum + slots, 0) >= wish.amount
  }
}

async function create(world: World): Promise<void> {
  const [from, length] = [world.below(8), 1 + world.below(6)]
  const kind = world.below(8)
  const wish: Shown =
    kind < 2
      ? wholeHosts({ min: 1, max: 1 + world.below(2) })
      : kind < 5
        ? await byFlavor(world)
        : instances({
            vcpus: 1 + world.below(3),
            memory_mb: 256 * (1 + world.below(4)),
            amount: 1 + world.below(6),
            affinity: world.pick([null, null, true, false]),
          })
  const now = await world.api.now()
  const body = { name: 'x', start_date: dateAt(now, from), end_date: dateAt(now, from + length), reservations: [wish] }
  const first = Math.floor(now / MINUTE_MS) + from
  const fits = await world.wouldFit(wish, first, first + length)
  const answer = await world.api.post('/leases', body)
  if (wish.flavor_id) expectStatus(await world.api.compute.del(`/flavors/${wish.flavor_id}`, { version: null }), 202)
  if (answer.status === 201) assert.ok(fits, 'granted, though it does not fit')
  else {
    expectStatus(answer, 409)
    assert.ok(!fits, `refused, though it fits: ${answer.body.error_message}`)
  }
}

/** Instances of a new flavor that asks for other classes too. The flavor is deleted as soon as it is booked. */
async function byFlavor(world: World): Promise<Shown> {
  const source = { vcpus: 1 + world.below(2), ram: 256, disk: world.below(2) }
  const extra_specs = Object.fromEntries(
    CLASSES.filter(() => world.below(2) === 0).map(name => [`resources:${name}`, `${1 + world.below(2)}`]),
  )
  return {
    resource_type: 'flavor:instance',
    flavor_id: await world.api.flavorWith({ ...source, extra_specs }),
    amount: 1 + world.below(4),
    affinity: world.pick([null, null, true, false]),
    // Ours: the server ignores it.
    source: { ...source, extra_specs },
  }
}

async function change(world: World): Promise<void> {
  const leases = await world.leases()
  if (leases.length === 0) return
  const lease = world.pick(leases)
  const before = await world.api.show(lease.id)
  const now = await world.api.now()
  const [one] = lease.reservations
  const changes = [
    { end_date: dateAt(lease.end * MINUTE_MS, world.below(5) - 2) },
    { start_date: dateAt(now, world.below(6)) },
    { end_date: 'now' },
    { reservations: [{ id: one.id, amount: 1 + world.below(8) }] },
    { reservations: [{ id: one.id, affinity: world.pick([null, true, false]) }] },
  ]
  const answer = await world.api.put(`/leases/${lease.id}`, world.pick(changes))
  expectStatus(answer, 200, 400, 409)
  if (answer.status !== 200) {
    const { updated_at: _, ...after } = await world.api.show(lease.id)
    const { updated_at: __, ...was } = before
    // Time goes on: events may be done meanwhile, but what was asked for stays.
    assert.deepEqual([after.start_date, after.end_date, after.name], [was.start_date, was.end_date, was.name])
  }
  await world.api.advance(0)
}

async function remove(world: World): Promise<void> {
  const leases = await world.leases()
  if (leases.length > 0) await world.api.end(world.pick(leases).id)
}

const STEP = [
  create,
  create,
  create,
  create,
  change,
  change,
  remove,
  (world: World) => world.api.advance(world.below(4)),
]

eachDatabase('random lives of leases', databases => {
  void describe('', () => {
    const api = new Reservation()
    let stop: () => Promise<void>
    before(async () => {
      const server = await startServer(await databases.create(), { testClock: true })
      api.at(server.origin)
      stop = () => server.stop()
    })
    after(async () => {
      api.close()
      await stop()
    })
    for (let seed = 1; seed <= SEEDS; seed++) {
      void test(`never oversell, never refuse what fits, and leave nothing (seed ${seed})`, async () => {
        const world = new World(api, chance(seed))
        for (let i = 0; i < 3; i++) {
          const sizes = { vcpus: 2 + world.below(6), memory_mb: 512 * (1 + world.below(6)), disk_gb: 8 }
          // One of the hosts has nothing else.
          const extras = Object.fromEntries(i === 0 ? [] : CLASSES.map(name => [name, 1 + world.below(4)]))
          const size = { ...sizes, extras }
          const host = await api.host(`h-${seed}-${i}`, size)
          world.hosts.set(host.hypervisor_hostname, size)
        }
        for (let step = 0; step < STEPS; step++) {
          await world.beEarly()
          await world.pick(STEP)(world)
          await world.check()
        }
        await api.advance(60)
        for (const lease of await world.leases()) {
          assert.equal(lease.status, 'TERMINATED')
          await api.end(lease.id)
        }
        assert.deepEqual(await api.classes(), [])
        for (const { id } of (await api.get('/os-hosts')).body.hosts) {
          expectStatus(await api.del(`/os-hosts/${id}`), 204)
        }
        await api.fsck()
      })
    }
  })
})
