// People who book hosts and nodes that nobody else books: what fits when, what has begun and what is over is known.
import { ADMIN, type Actor, instant, wholeSecond } from '../clients/actor.ts'
import { Chronicle, episodes, type Knowing } from './episode.ts'

const STEPS = 12
const HOUR_MS = 3_600_000
const LEASES = '/reservation/v1/leases'
/** After so long, what was due is done. */
const SOON_MS = 5_000
/** Hours are counted from now on, and now is a moment later there. */
const HOURS_OFF = 0.02

interface Slots {
  kind: 'slots'
  vcpus: number
  memory_mb: number
  disk_gb: number
  amount: number
}
interface Nodes {
  kind: 'nodes'
  min: number
  max: number
}
type Wish = Slots | Nodes | { kind: 'host' }

interface Lease {
  id: string
  reservation: string
  name: string
  start: number
  end: number
  wish: Wish
}

interface Options {
  until: number
  pauseMs: number
  toleranceMs: number
  /** The name of its host. */
  host: string
  size: { vcpus: number; memory_mb: number; disk_gb: number }
  resourceClass: string
  nodes: number
}

type Fits = 'yes' | 'no' | 'open'

class Diary {
  readonly #one: Knowing
  readonly #options: Options
  readonly #project: string
  readonly #chronicle: Chronicle
  #leases: Lease[] = []
  #limits: { leases: number; lease_hours: number } = { leases: Infinity, lease_hours: Infinity }
  #names = 0

  constructor(one: Knowing, options: Options) {
    this.#one = one
    this.#options = options
    this.#project = `project-${one.chance.uuid()}`
    this.#chronicle = new Chronicle(one)
    one.become({ ...ADMIN, 'x-auth-token': `admin:${this.#project}` })
  }

  #wish(): Wish {
    const { chance } = this.#one
    const { nodes, size } = this.#options
    const kind = chance.pick(['slots', 'slots', 'nodes', 'host'] as const)
    if (kind === 'host') return { kind }
    if (kind === 'nodes') {
      const min = 1 + chance.int(nodes)
      return { kind, min, max: Math.min(nodes, min + chance.int(2)) }
    }
    const vcpus = 1 + chance.int(3)
    const [memory_mb, disk_gb] = [chance.pick([size.memory_mb / 2, 64]), chance.pick([size.disk_gb / 4, 1])]
    return { kind, vcpus, memory_mb, disk_gb, amount: 1 + chance.int(3) }
  }

  #terms(wish: Wish): object {
    const { host, resourceClass } = this.#options
    const properties = { resource_properties: JSON.stringify(['==', '$hypervisor_hostname', host]) }
    if (wish.kind === 'nodes') {
      return { resource_type: 'physical:node', resource_class: resourceClass, min: wish.min, max: wish.max }
    }
    if (wish.kind === 'host') return { resource_type: 'physical:host', min: 1, max: 1, ...properties }
    const { kind: _, ...slots } = wish
    return { resource_type: 'virtual:instance', ...slots, ...properties }
  }

  /** Whether there is room at that time, beside the other leases. */
  #fits(wish: Wish, start: number, end: number, but?: Lease): Fits {
    const others = this.#leases.filter(other => other !== but && other.start < end && start < other.end)
    if (wish.kind === 'nodes') return this.#fitsNodes(wish, start, others)
    const onHost = others.filter(other => other.wish.kind !== 'nodes')
    if (wish.kind === 'host') return onHost.length === 0 ? 'yes' : 'no'
    if (onHost.some(other => other.wish.kind === 'host')) return 'no'
    const begins = [start, ...onHost.map(other => Math.max(other.start, start))]
    const { size } = this.#options
    const isWithin = (at: number) =>
      (['vcpus', 'memory_mb', 'disk_gb'] as const).every(name => {
        const amounts = [wish, ...onHost.filter(one => one.start <= at && at < one.end).map(one => one.wish as Slots)]
        return amounts.reduce((sum, one) => sum + one[name] * one.amount, 0) <= size[name]
      })
    return begins.every(isWithin) ? 'yes' : 'no'
  }

  /** Which nodes the others have isn't known: so many at most in all, and so many at least at once. */
  #fitsNodes({ min }: Nodes, start: number, others: readonly Lease[]): Fits {
    const { nodes } = this.#options
    const booked = others.flatMap(({ wish, ...times }) => (wish.kind === 'nodes' ? [{ ...times, wish }] : []))
    if (booked.reduce((sum, { wish }) => sum + wish.max, 0) + min <= nodes) return 'yes'
    const begins = [start, ...booked.map(other => Math.max(other.start, start))]
    const least = (at: number) =>
      booked.filter(one => one.start <= at && at < one.end).reduce((sum, { wish }) => sum + wish.min, 0)
    return begins.some(at => least(at) + min > nodes) ? 'no' : 'open'
  }

  #hours = (leases: readonly { start: number; end: number }[]) =>
    leases.reduce((sum, { start, end }) => sum + Math.max(0, end - Math.max(start, this.#one.now())), 0) / HOUR_MS

  #current = () => this.#leases.filter(({ end }) => end > this.#one.now())

  /** Whether the quota has room for these instead of what is there now. */
  #mayHave(after: readonly { start: number; end: number }[]): Fits {
    const before = this.#current()
    const { leases, lease_hours: hours } = this.#limits
    if (after.length > leases && after.length > before.length) return 'no'
    const grows = this.#hours(after) - this.#hours(before)
    if (grows < -HOURS_OFF || this.#hours(after) < hours - HOURS_OFF) return 'yes'
    return this.#hours(after) > hours + HOURS_OFF && grows > HOURS_OFF ? 'no' : 'open'
  }

  async limit(): Promise<void> {
    const one = this.#one
    const [leases, hours] = [one.chance.pick([null, null, 2, 3]), one.chance.pick([null, null, 5, 9])]
    const limits = { limits: { leases, lease_hours: hours } }
    await one.expect(200, 'PUT', `/holdfast/v1/quotas/${this.#project}`, limits)
    this.#limits = { leases: leases ?? Infinity, lease_hours: hours ?? Infinity }
  }

  async book(): Promise<void> {
    const one = this.#one
    const { chance } = one
    const isSoon = chance.happens(0.4)
    const start = wholeSecond(one.now() + (isSoon ? 2_000 + chance.int(4_000) : HOUR_MS * (1 + chance.int(4))))
    const end = start + (isSoon ? 3_000 + 1_000 * chance.int(5) : HOUR_MS * (1 + chance.int(3)))
    const wish = this.#wish()
    const name = `${this.#project}-${++this.#names}`
    const body = { name, start_date: instant(start), end_date: instant(end), reservations: [this.#terms(wish)] }
    const [room, quota] = [this.#fits(wish, start, end), this.#mayHave([...this.#current(), { start, end }])]
    const made = await this.#told(room, quota, 201, 'POST', LEASES, body)
    if (!made) return
    this.#leases.push({ id: made.lease.id, reservation: made.lease.reservations[0].id, name, start, end, wish })
    this.#same(this.#leases.at(-1)!, made.lease)
    this.#chronicle.note('lease', made.lease.id, 'created')
  }

  /** Done, if there is room and the quota lets it; else refused for a true reason. */
  async #told(room: Fits, quota: Fits, status: number, method: 'POST' | 'PUT', url: string, body: object) {
    const one = this.#one
    const reply = await one.ask(method, url, body)
    const said = `${method} ${url} ${JSON.stringify(body)}: ${reply.status} ${JSON.stringify(reply.body)}`
    if (reply.status === status) {
      if (room === 'no' || quota === 'no') one.found(`${said}, but ${room === 'no' ? 'it is full' : 'it is too much'}`)
      return reply.body
    }
    const isTrue = reply.status === 403 ? quota !== 'yes' : room !== 'yes'
    if (reply.status! < 400 || !isTrue) one.found(`${said}, but it fits (${room}, quota ${quota})`)
    return null
  }

  #same({ id, name, start, end, wish }: Lease, shown: Record<string, unknown>): void {
    const date = (at: number) => `${new Date(at).toISOString().slice(0, 23)}000`
    const { start_date: from, end_date: to, project_id: project } = shown
    this.#one.same(`lease ${id}`, [shown['name'], from, to, project], [name, date(start), date(end), this.#project])
    const [reservation] = shown['reservations'] as Record<string, unknown>[]
    if (wish.kind === 'host') return
    const { kind: _, ...known } = wish
    const told = Object.fromEntries(Object.keys(known).map(key => [key, reservation![key]]))
    this.#one.same(`the reservation of ${id}`, told, known)
  }

  async change(): Promise<void> {
    const one = this.#one
    const { chance } = one
    const far = this.#leases.filter(({ start }) => start > one.now() + HOUR_MS / 2)
    if (far.length === 0) return
    const lease = chance.pick(far)
    const start = lease.start + HOUR_MS * chance.pick([0, 0, 1])
    const end = Math.max(start + HOUR_MS, lease.end + HOUR_MS * chance.pick([-1, 0, 1, 2]))
    const isLarger = lease.wish.kind === 'slots' && chance.happens(0.4)
    const wish = isLarger ? { ...(lease.wish as Slots), amount: 1 + chance.int(4) } : lease.wish
    const body = {
      start_date: instant(start),
      end_date: instant(end),
      ...(isLarger && { reservations: [{ id: lease.reservation, amount: (wish as Slots).amount }] }),
    }
    const isSame = start === lease.start && end === lease.end && JSON.stringify(wish) === JSON.stringify(lease.wish)
    const after = this.#current().map(other => (other === lease ? { start, end } : other))
    const room = isSame ? 'yes' : this.#fits(wish, start, end, lease)
    const changed = await this.#told(room, this.#mayHave(after), 200, 'PUT', `${LEASES}/${lease.id}`, body)
    if (changed) {
      if (!isSame) this.#chronicle.note('lease', lease.id, 'changed')
      lease.start = start
      lease.end = end
      lease.wish = wish
    }
    this.#same(lease, (await one.get(`${LEASES}/${lease.id}`)).lease)
  }

  /** What must not be done. */
  async err(): Promise<void> {
    const one = this.#one
    const [start, end] = [wholeSecond(one.now() + HOUR_MS), wholeSecond(one.now() + 2 * HOUR_MS)]
    const terms = this.#terms({ kind: 'nodes', min: 1, max: 1 })
    const body = { name: 'wrong', start_date: instant(end), end_date: instant(start), reservations: [terms] }
    await one.expect(400, 'POST', LEASES, body)
    await one.expect(400, 'POST', LEASES, { ...body, start_date: instant(one.now() - HOUR_MS), end_date: instant(end) })
    await one.expect(404, 'GET', `${LEASES}/${one.chance.uuid()}`)
  }

  async remove(): Promise<void> {
    if (this.#leases.length === 0) return
    const lease = this.#one.chance.pick(this.#leases)
    await this.#delete(lease)
    await this.#one.expect(404, 'GET', `${LEASES}/${lease.id}`)
    this.#leases = this.#leases.filter(other => other !== lease)
  }

  async #delete(lease: Lease): Promise<void> {
    const before = this.#status(lease, this.#one.now())
    await this.#one.expect(204, 'DELETE', `${LEASES}/${lease.id}`)
    // Around its beginning and its end it is open what it was when it was deleted.
    if (before === null || before !== this.#status(lease, this.#one.now()))
      return this.#chronicle.forget('lease', lease.id)
    if (before !== 'PENDING') this.#chronicle.note('lease', lease.id, 'started')
    this.#chronicle.note('lease', lease.id, 'ended', 'deleted')
  }

  /** To shortly after the next beginning or end. */
  async wait(): Promise<void> {
    const one = this.#one
    const times = this.#leases.flatMap(({ start, end }) => [start, end]).filter(at => at > one.now())
    const next = Math.min(...times)
    if (next > one.now() + 20_000) return
    const { toleranceMs } = this.#options
    await one.sleep(Math.max(0, next - toleranceMs - 200 - one.now()))
    await this.look()
    await one.sleep(Math.max(0, next - one.now()) + SOON_MS)
    await this.look()
  }

  /** What must be so now, a while after all beginnings and ends, and a while before the next. */
  #status({ start, end }: Lease, now: number): string | null {
    const { toleranceMs } = this.#options
    if (now < start - toleranceMs) return 'PENDING'
    if (now > end + SOON_MS - 500) return 'TERMINATED'
    return now > start + SOON_MS - 500 && now < end - toleranceMs ? 'ACTIVE' : null
  }

  async look(): Promise<void> {
    const one = this.#one
    const at = one.now()
    const { leases } = await one.get(LEASES)
    const shown = (leases as Record<string, unknown>[]).filter(({ project_id: project }) => project === this.#project)
    const names = (some: readonly { name?: unknown }[]) => some.map(({ name }) => String(name)).toSorted()
    one.same('the leases', names(shown), names(this.#leases))
    for (const lease of this.#leases) {
      const found = shown.find(({ id }) => id === lease.id)
      if (found) this.#same(lease, found)
      const [before, after] = [this.#status(lease, at), this.#status(lease, one.now())]
      if (found && before !== null && before === after) one.same(`the status of ${lease.id}`, found['status'], before)
    }
    await this.#lookAtNodes()
    const { limits } = await one.get(`/holdfast/v1/quotas/${this.#project}`)
    const used = (name: string) => (limits as { name: string; used: number }[]).find(one => one.name === name)!.used
    const isSure = this.#leases.every(({ end }) => Math.abs(end - one.now()) > SOON_MS)
    if (isSure) one.same('the leases that count', used('leases'), this.#current().length)
    const hours = this.#hours(this.#leases)
    if (Math.abs(used('lease_hours') - hours) > 0.06)
      one.found(`${used('lease_hours')} hours are counted, not ${hours}`)
  }

  /** Who has a lease has its nodes, and only then. */
  async #lookAtNodes(): Promise<void> {
    const one = this.#one
    const ofNodes = this.#leases.flatMap(lease => (lease.wish.kind === 'nodes' ? [{ lease, wish: lease.wish }] : []))
    const states = () => ofNodes.map(({ lease }) => this.#status(lease, one.now()))
    const before = states()
    const { allocations } = await one.get(`/baremetal/v1/allocations?resource_class=${this.#options.resourceClass}`)
    const active = (allocations as { state: string }[]).filter(({ state }) => state === 'active').length
    if (before.includes(null) || before.join() !== states().join()) return
    const running = ofNodes.filter((_, i) => before[i] === 'ACTIVE')
    const [least, most] = (['min', 'max'] as const).map(end => running.reduce((sum, { wish }) => sum + wish[end], 0))
    if (active < least! || active > most!) one.found(`leases have ${active} nodes, not ${least} to ${most}`)
  }

  /** The next episode has an empty calendar. */
  async leave(): Promise<void> {
    for (const lease of this.#leases) await this.#delete(lease)
    this.#leases = []
    await this.#one.sleep(SOON_MS)
    await this.look()
    await this.#chronicle.check()
  }
}

export function diarist(options: Options): Actor {
  const { until, pauseMs } = options
  let isDirty = false
  return episodes({ check: 'diary', until, pauseMs }, async one => {
    // An episode that ended without an answer has left something behind, and nothing is certain from then on.
    if (isDirty) return
    isDirty = true
    const diary = new Diary(one, options)
    const acts = [
      () => diary.book(),
      () => diary.book(),
      () => diary.book(),
      () => diary.book(),
      () => diary.change(),
      () => diary.change(),
      () => diary.remove(),
      () => diary.wait(),
      () => diary.wait(),
      () => diary.look(),
      () => diary.limit(),
      () => diary.err(),
    ]
    for (let i = 0; i < STEPS && one.now() < until; i++) {
      await one.chance.pick(acts)()
      await one.sleep(one.chance.int(pauseMs / 8))
    }
    await diary.wait()
    await diary.leave()
    isDirty = false
  })
}
