// The load under which faults are tried: clients of claims, allocations, leases and machines who write down each answer,
// and what must hold afterwards: nothing answered is lost, nothing is sold twice, nothing is stuck.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, clients } from '../races/clients.ts'
import { type Allocation, Baremetal, NEWEST, waitFor } from '../support/baremetal.ts'
import type { Answer } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { dateAt, instances, Reservation, type Shown } from '../support/reservation.ts'
import { Book, type Outcome } from './book.ts'

/** Slots also for leases that were asked for without an answer: nobody takes these back. */
const CAPACITY = { claims: 28, nodes: 3, machines: 2, slots: 40 }
const LEASES_KEPT = 4
const CLIENTS = { claims: 6, allocations: 4, leases: 3, machines: 2, readers: 1 }
type Kind = keyof typeof CLIENTS
const KINDS = Object.keys(CLIENTS) as Kind[]

const PAUSE_MS = 5
/** As long as a busy machine may need; only what fails waits so long. */
const PATIENCE_MS = 60_000
/** When leases begin and end, in minutes from the start of the load. */
const LEASE = { from: 30, to: 90 }
/** States in which nobody works on a machine. */
const AT_REST = new Set(['available', 'active', 'manageable', 'deploy failed', 'clean failed', 'error'])

/** Counts of answers, for the table of what was seen. */
interface Seen {
  done: Record<Kind, number>
  refused: number
  away: number
  unknown: number
  /** The longest time without any change that was done. */
  gapMs: number
}

interface Held {
  consumer: string
  generation: number
}

export class Load {
  readonly seen: Seen = {
    done: { claims: 0, allocations: 0, leases: 0, machines: 0, readers: 0 },
    refused: 0,
    away: 0,
    unknown: 0,
    gapMs: 0,
  }
  readonly #book = new Book()
  /** Which node an allocation was told that it has, and when. */
  readonly #nodes = new Map<string, { node: string; atNs: bigint }>()
  readonly #name = `load-${randomUUID().slice(0, 8)}`
  readonly #lease: typeof LEASE
  #metal = new Baremetal()
  #leases = new Reservation()
  #provider = ''
  #machines: string[] = []
  #beganAt = 0
  #kept = 0
  /** What each client of claims has, for the next run. */
  readonly #mine: Held[][] = []
  #lastDone = 0
  /** The last refusal, in the words of the server. */
  #last = ''

  private constructor(lease: typeof LEASE) {
    this.#lease = lease
  }

  /** Makes what the clients will ask for. */
  static async on(servers: readonly { origin: string }[], leases = LEASE): Promise<Load> {
    const load = new Load(leases)
    load.at(...servers.map(({ origin }) => origin))
    await load.#prepare()
    return load
  }

  /** From here on these servers are asked. */
  at(...origins: string[]): void {
    this.close()
    this.#metal = new Baremetal(...origins)
    this.#leases = new Reservation(...origins)
  }

  /** Clients under way go on with these servers alone. */
  to(...origins: string[]): void {
    this.#metal.origins = this.#metal.placement.origins = origins
    this.#leases.at(...origins)
  }

  close(): void {
    this.#metal.close()
    this.#leases.close()
  }

  async #prepare(): Promise<void> {
    const [metal, name] = [this.#metal, this.#name]
    // Of the second class nobody takes any, so that candidates always show the provider.
    this.#provider = await metal.placement.provider({ VCPU: CAPACITY.claims, DISK_GB: 100 })
    await metal.nodes(CAPACITY.nodes, { resource_class: name })
    this.#machines = await metal.nodes(CAPACITY.machines, { resource_class: `${name}-machines` })
    await this.#leases.host(name, { vcpus: CAPACITY.slots }, { pool: name })
    this.#beganAt = await this.#leases.now()
  }

  /** The load before, during and after a fault; before and after it all kinds of clients must get on. */
  async during(fault: () => Promise<void>): Promise<void> {
    const over = new AbortController()
    const work: Record<Kind, (index: number) => Promise<void>> = {
      claims: index => this.#claim(over.signal, chance(index), index),
      allocations: () => this.#allocate(over.signal),
      leases: index => this.#reserve(over.signal, chance(index)),
      machines: index => this.#operate(over.signal, this.#machines[index]!),
      readers: () => this.#read(over.signal),
    }
    this.#lastDone = performance.now()
    const failed = new AbortController()
    const running = Promise.all(KINDS.map(kind => clients(CLIENTS[kind], work[kind]))).catch((error: unknown) => {
      failed.abort(error)
      throw error
    })
    running.catch(() => {})
    try {
      await this.#progress(failed.signal)
      await fault()
      await this.#progress(failed.signal)
    } finally {
      // However it went: clients without an end would keep the test from ending.
      over.abort()
      await running
    }
  }

  async #progress(failed: AbortSignal): Promise<void> {
    const before = { ...this.seen.done }
    const isStuck = (kind: Kind) => this.seen.done[kind] < before[kind] + 4
    const deadline = performance.now() + PATIENCE_MS
    while (KINDS.some(isStuck)) {
      failed.throwIfAborted()
      assert.ok(performance.now() < deadline, `${KINDS.filter(isStuck).join(', ')} don't get on: ${this.#last}`)
      await sleep(PAUSE_MS)
    }
  }

  /** What an answer says of its change. All else than a clear word, or 503 with a time to come again, is a failure. */
  async #send(kind: Kind, ask: () => Promise<Answer>): Promise<{ outcome: Outcome; answer: Answer | null }> {
    const answer = await ask().catch((error: Error & { code?: string }) => {
      if (error instanceof assert.AssertionError) throw error
      return error.code === 'ECONNREFUSED' ? ('refused' as const) : null
    })
    if (answer === null) this.seen.unknown++
    else if (answer === 'refused') this.seen.away++
    if (answer === null || answer === 'refused') {
      await sleep(PAUSE_MS * 4)
      return { outcome: answer ?? 'unknown', answer: null }
    }
    return { outcome: await this.#judge(kind, answer), answer }
  }

  async #judge(kind: Kind, answer: Answer): Promise<Outcome> {
    if (answer.status < 300) {
      const now = performance.now()
      if (kind !== 'readers') this.seen.gapMs = Math.max(this.seen.gapMs, now - this.#lastDone)
      if (kind !== 'readers') this.#lastDone = now
      this.seen.done[kind]++
      await sleep(PAUSE_MS)
      return 'done'
    }
    const { status } = expectStatus(answer, 409, 503)
    this.#last = `${status} to ${kind}: ${JSON.stringify(answer.body).slice(0, 300)}`
    if (status === 409) this.seen.refused++
    if (status === 409) return sleep(PAUSE_MS, 'refused')
    assert.match(String(answer.headers['retry-after']), /^\d+$/, 'a 503 says when to come again')
    const isUnknown = JSON.stringify(answer.body).includes('may be done')
    if (isUnknown) this.seen.unknown++
    else this.seen.away++
    return sleep(PAUSE_MS * 4, isUnknown ? 'unknown' : 'refused')
  }

  #change(kind: Kind, thing: string, next: string | null, ask: () => Promise<Answer>): Promise<Outcome> {
    return this.#book.change(thing, next, async () => (await this.#send(kind, ask)).outcome)
  }

  /** Takes parts of one provider, changes them and gives them back. A consumer whose state is unknown is left alone. */
  async #claim(over: AbortSignal, below: (limit: number) => number, index: number): Promise<void> {
    const api = this.#metal.placement
    let mine = this.#mine[index] ?? []
    while (!over.aborted) {
      const what = below(3)
      const one = (what > 0 && mine.pop()) || { consumer: randomUUID(), generation: 0 }
      const amount = what === 2 && one.generation > 0 ? null : 1 + below(4)
      const claims = { [this.#provider]: { VCPU: amount ?? 0 } }
      const ask = () =>
        amount === null
          ? api.del(`/allocations/${one.consumer}`)
          : api.claim(one.consumer, claims, one.generation || null)
      const next = amount === null ? null : String(amount)
      const outcome = await this.#change('claims', `claim ${one.consumer}`, next, ask)
      if (outcome === 'done' && amount !== null) mine.push({ ...one, generation: one.generation + 1 })
      if (outcome === 'refused' && one.generation > 0) mine.push(one)
      // Room for others, and for growth.
      if (mine.length > 2) mine = await this.#release(mine)
    }
    this.#mine[index] = mine
  }

  async #release(mine: Held[]): Promise<Held[]> {
    const [{ consumer }, ...rest] = mine as [Held, ...Held[]]
    const ask = () => this.#metal.placement.del(`/allocations/${consumer}`)
    const outcome = await this.#change('claims', `claim ${consumer}`, null, ask)
    return outcome === 'refused' ? mine : rest
  }

  /** Asks for a machine, waits for the decision, and gives it back. */
  async #allocate(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const uuid = randomUUID()
      const thing = `allocation ${uuid}`
      const body = { uuid, resource_class: this.#name }
      const made = () => this.#metal.post('/v1/allocations', body, NEWEST)
      if ((await this.#change('allocations', thing, 'there', made)) !== 'done') continue
      await this.#decided(uuid, over)
      while (!over.aborted) {
        const remove = () => this.#metal.del(`/v1/allocations/${uuid}`, NEWEST)
        if ((await this.#change('allocations', thing, null, remove)) !== 'refused') break
      }
    }
  }

  async #decided(uuid: string, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const { answer } = await this.#send('readers', () => this.#metal.get(`/v1/allocations/${uuid}`, NEWEST))
      const { state, node_uuid: node } = (answer?.status === 200 ? answer.body : {}) as Partial<Allocation>
      if (node) this.#nodes.set(uuid, { node, atNs: process.hrtime.bigint() })
      if (state === 'active' || state === 'error') return
    }
  }

  /** Books slots for a time to come, and takes some bookings back. */
  async #reserve(over: AbortSignal, below: (limit: number) => number): Promise<void> {
    const [start_date, end_date] = [dateAt(this.#beganAt, this.#lease.from), dateAt(this.#beganAt, this.#lease.to)]
    const reservations = [instances({ amount: 1, resource_properties: `["=", "$pool", "${this.#name}"]` })]
    while (!over.aborted) {
      const name = `${this.#name}-${randomUUID()}`
      const thing = `lease ${name}`
      let id = ''
      const outcome = await this.#book.change(thing, 'there', async () => {
        const sent = await this.#send('leases', () =>
          this.#leases.post('/leases', { name, start_date, end_date, reservations }),
        )
        id = sent.answer?.body?.lease?.id ?? ''
        return sent.outcome
      })
      if (outcome !== 'done') continue
      // Some stay until their time comes.
      if (this.#kept < LEASES_KEPT && below(4) === 0 && ++this.#kept) continue
      while (!over.aborted) {
        const remove = () => this.#leases.del(`/leases/${id}`)
        if ((await this.#change('leases', thing, null, remove)) !== 'refused') break
      }
    }
  }

  /** Deploys a machine and takes it down again. What is accepted must end somewhere. */
  async #operate(over: AbortSignal, node: string): Promise<void> {
    while (!over.aborted) {
      for (const [verb, from] of [
        ['active', 'available'],
        ['deleted', 'active'],
      ] as const) {
        const shown = await this.#send('readers', () => this.#metal.get(`/v1/nodes/${node}`))
        const { provision_state: state, reservation } = shown.answer?.status === 200 ? shown.answer.body : {}
        if (state === from && reservation === null) {
          await this.#send('machines', () => this.#metal.provision(node, verb))
        }
      }
    }
  }

  async #read(over: AbortSignal): Promise<void> {
    const paths = [`/resource_providers/${this.#provider}/usages`, '/allocation_candidates?resources=DISK_GB:1']
    for (let turn = 0; !over.aborted; turn++) {
      await this.#send('readers', () => this.#metal.placement.get(paths[turn % paths.length]!))
    }
  }

  /** All that must hold once the fault is over; `atNs` is when the power went, and what was said later was said by nobody. */
  async expectKept(atNs?: bigint): Promise<void> {
    await this.#ready()
    this.#book.compare(await this.#found(), atNs)
    for (const lease of await this.#ownLeases())
      assert.equal(lease.status, 'PENDING', 'no lease starts before its time')
    const allocations = await this.#metal.settledOf(this.#name, PATIENCE_MS)
    const had = allocations.flatMap(({ node_uuid: node }) => (node ? [node] : []))
    assert.equal(new Set(had).size, had.length, 'two allocations have one node')
    for (const { uuid, node_uuid: node } of allocations) {
      const told = this.#nodes.get(uuid)
      if (told && told.atNs <= (atNs ?? told.atNs))
        assert.equal(node, told.node, `${uuid} has another node than it was told`)
    }
    await this.#atRest()
    await this.#memoryAgrees()
    await this.#metal.fsck()
  }

  async #ready(): Promise<void> {
    for (const origin of this.#metal.origins) {
      await waitFor(`${origin} is ready`, async () => (await fetch(`${origin}/readyz`)).status === 200, PATIENCE_MS)
    }
  }

  async #found(): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    const path = `/resource_providers/${this.#provider}/allocations`
    const { allocations: claims } = expectStatus(await this.#metal.placement.get(path), 200).body
    for (const [consumer, { resources }] of Object.entries<Shown>(claims)) {
      found.set(`claim ${consumer}`, String(resources.VCPU))
    }
    for (const { uuid } of await this.#metal.allocationsOf(this.#name)) found.set(`allocation ${uuid}`, 'there')
    for (const { name } of await this.#ownLeases()) found.set(`lease ${name}`, 'there')
    return found
  }

  async #ownLeases(): Promise<Shown[]> {
    const { leases } = expectStatus(await this.#leases.get('/leases'), 200).body
    return leases.filter((lease: Shown) => lease.name.startsWith(this.#name))
  }

  async #atRest(): Promise<void> {
    const { nodes } = expectStatus(await this.#metal.get('/v1/nodes?fields=uuid,resource_class'), 200).body
    for (const { uuid, resource_class: of } of nodes) {
      if (!of?.startsWith(this.#name)) continue
      await waitFor(`node ${uuid} is at rest`, async () => {
        const { provision_state: state, reservation } = await this.#metal.show(uuid)
        return AT_REST.has(state) && reservation === null
      })
    }
  }

  /** The memory of each process comes to be what the database has. */
  async #memoryAgrees(): Promise<void> {
    for (const origin of this.#metal.origins) {
      const one = new Baremetal(origin)
      await waitFor(`the memory of ${origin} is right`, async () => {
        const { VCPU: used } = await one.placement.usages(this.#provider)
        const { provider_summaries: all } = (await one.placement.get('/allocation_candidates?resources=DISK_GB:1')).body
        return all[this.#provider]?.resources.VCPU.used === (used ?? 0)
      })
      one.close()
    }
  }

  /** Lets time go by: all leases that are there start together, and end. By default the test clock of the servers is moved. */
  async expectLeasesToLive(moveTo = (time: number) => this.#metal.moveTo(time)): Promise<void> {
    for (const [minutes, status] of [
      [this.#lease.from, 'ACTIVE'],
      [this.#lease.to, 'TERMINATED'],
    ] as const) {
      await moveTo(this.#beganAt + (minutes + 1) * 60_000)
      await waitFor(`all leases are ${status}`, async () =>
        (await this.#ownLeases()).every((lease: Shown) => lease.status === status),
      )
      await this.#metal.fsck()
    }
  }

  /** In words, for the table. */
  get summary(): string {
    const { done, refused, away, unknown, gapMs } = this.seen
    const made = done.claims + done.allocations + done.leases + done.machines
    return `${made} changes done, ${refused} refused, ${away} told to come again, ${unknown} without an answer, longest gap ${Math.round(gapMs)} ms`
  }
}

interface Told {
  after(work: () => void): void
  diagnostic(text: string): void
}

/** The load on these servers before, during and after a fault, and all that must hold afterwards. */
export async function nothingIsLost(
  t: Told,
  servers: readonly { origin: string }[],
  fault: () => Promise<unknown>,
  leases = LEASE,
): Promise<void> {
  const load = await Load.on(servers, leases)
  t.after(() => load.close())
  await load.during(async () => void (await fault()))
  await load.expectKept()
  await load.expectLeasesToLive()
  t.diagnostic(load.summary)
}
