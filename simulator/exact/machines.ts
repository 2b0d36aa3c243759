// People of one project after the other, with nodes that nobody else uses: who has which, who waits, and how much the
// project may have is known.
import { ADMIN, type Actor, instant, wholeSecond } from '../clients/actor.ts'
import { Chronicle, episodes, type Knowing } from './episode.ts'
import { inOrder, lookAtLimits, lookAtPages, lookAtQueue, type Node, type Promised, urlOf } from './promises.ts'

const STEPS = 14
const FAR_MS = 3_600_000
const FAST = 'CUSTOM_FAST'
/** By then the conductor has decided, and what is over has ended. */
const SOON_MS = 8_000

interface Options {
  until: number
  pauseMs: number
  toleranceMs: number
  resourceClass: string
  /** All of the class. The first is fast. */
  nodes: readonly string[]
}

class Ward {
  readonly #one: Knowing
  readonly #options: Options
  readonly #project: string
  readonly #nodes: Node[]
  readonly #chronicle: Chronicle
  /** In the order in which they came. */
  #promised: Promised[] = []
  #limits: Record<string, number> = {}
  #names = 0

  constructor(one: Knowing, options: Options) {
    this.#one = one
    this.#options = options
    this.#project = `project-${one.chance.uuid()}`
    this.#chronicle = new Chronicle(one)
    this.#nodes = options.nodes.map((uuid, i) => ({ uuid, isFast: i === 0, isOut: false }))
    one.become({ ...ADMIN, 'x-auth-token': `admin:${this.#project}` })
  }

  #free(): Node[] {
    return this.#nodes.filter(({ uuid, isOut }) => !isOut && this.#promised.every(({ node }) => node !== uuid))
  }

  #suits = ({ wantsFast, candidates }: Pick<Promised, 'wantsFast' | 'candidates'>, { uuid, isFast }: Node) =>
    (isFast || !wantsFast) && (candidates.length === 0 || candidates.includes(uuid))

  async limit(): Promise<void> {
    const { chance } = this.#one
    const names = ['nodes', `nodes:${this.#options.resourceClass}`]
    const limits = Object.fromEntries(
      names.map(name => [name, chance.pick([null, -1, 1 + chance.int(this.#nodes.length + 1)])]),
    )
    const hours = Object.fromEntries(
      ['longest_hold_hours', 'longest_allocation_hours'].map(name => [name, chance.pick([null, null, 2])]),
    )
    await this.#one.expect(200, 'PUT', `/holdfast/v1/quotas/${this.#project}`, { limits: { ...limits, ...hours } })
    this.#limits = {}
    for (const [name, max] of Object.entries({ ...limits, ...hours })) {
      if (max !== null && max !== -1) this.#limits[name] = max
    }
    await this.#lookAtLimits()
  }

  #lookAtLimits = () =>
    lookAtLimits(this.#one, {
      project: this.#project,
      resourceClass: this.#options.resourceClass,
      used: this.#promised.length,
      limits: this.#limits,
    })

  /** Why the quota refuses one more until then; null if it doesn't. */
  #refusal(longest: string, until: number | null): string | null {
    const hours = this.#limits[longest]
    if (hours !== undefined && (until === null || until - this.#one.now() > hours * FAR_MS)) return longest
    const name = ['nodes', `nodes:${this.#options.resourceClass}`].find(
      limit => this.#promised.length >= (this.#limits[limit] ?? Infinity),
    )
    return name ?? null
  }

  #until(): number | null {
    const { chance } = this.#one
    const ms = chance.pick([null, FAR_MS, 5 * FAR_MS, 3_000 + chance.int(3_000)])
    return ms === null ? null : wholeSecond(this.#one.now() + ms)
  }

  async allocate(): Promise<void> {
    const one = this.#one
    const { chance } = one
    const until = this.#until()
    const mayWait = chance.happens(0.5)
    const id = `${this.#project}-${++this.#names}`
    const wantsFast = chance.happens(0.25)
    const candidates = chance.happens(0.25) ? [chance.pick(this.#nodes).uuid] : []
    const promised: Promised = { kind: 'allocation', id, uuid: '', node: null, until, wantsFast, candidates }
    const suits = this.#free().filter(node => this.#suits(promised, node))
    const body = {
      name: id,
      resource_class: this.#options.resourceClass,
      ...(wantsFast && { traits: [FAST] }),
      ...(candidates.length > 0 && { candidate_nodes: candidates }),
      ...(until !== null && { expires_at: instant(until) }),
      ...(mayWait && { wait_until: instant(one.now() + FAR_MS) }),
    }
    const refusal = this.#refusal('longest_allocation_hours', until)
    if (refusal !== null) {
      const { error_message: said } = await one.expect(403, 'POST', '/baremetal/v1/allocations', body)
      if (!JSON.stringify(said).includes(refusal)) one.found(`refused for ${JSON.stringify(said)}, not for ${refusal}`)
      return
    }
    const made = await one.expect(201, 'POST', '/baremetal/v1/allocations', body)
    one.same('the end', made.expires_at === null ? null : Date.parse(made.expires_at), until)
    const wanted = suits.length > 0 ? 'active' : mayWait ? 'allocating' : 'error'
    promised.uuid = made.uuid
    this.#chronicle.note('allocation', made.uuid, 'created', wanted === 'allocating' ? 'waiting' : wanted)
    const { node } = await this.#decided(promised, wanted)
    if (wanted === 'error') return this.#end(promised)
    promised.node = node
    this.#promised.push(promised)
    if (wanted === 'active' && !suits.some(({ uuid }) => uuid === node)) {
      one.found(`${id} has ${node}, but only ${suits.map(({ uuid }) => uuid).join(', ')} suit`)
    }
  }

  async #decided(promised: Promised, wanted: string): Promise<{ node: string | null }> {
    const one = this.#one
    const late = one.now() + SOON_MS
    if (wanted === 'allocating') await one.sleep(500)
    for (;;) {
      const { state, node_uuid: node } = await one.get(urlOf(promised))
      if (state === wanted) return { node }
      if (state !== 'allocating' || one.now() > late) {
        one.found(`${promised.id} is ${state} with ${node}, but must be ${wanted}`)
        return { node }
      }
      await one.sleep(200)
    }
  }

  async hold(): Promise<void> {
    const one = this.#one
    const { chance } = one
    const until = this.#until() ?? wholeSecond(one.now() + FAR_MS)
    const uuid = chance.uuid()
    const nowhere = chance.happens(0.2) ? [chance.uuid()] : []
    const wishes = [...new Set([...nowhere, chance.pick(this.#nodes).uuid, chance.pick(this.#nodes).uuid])]
    const free = new Set(this.#free().map(node => node.uuid))
    const node = wishes.find(wish => free.has(wish)) ?? null
    const body = { uuid, instance_uuid: chance.uuid(), node_uuid: wishes, expires_at: instant(until) }
    const refusal = this.#refusal('longest_hold_hours', until)
    // Which is said first of two true reasons is open.
    const reply = await one.ask('POST', '/baremetal/v1/reservations', body)
    const status = refusal !== null ? [403, ...(node === null ? [409] : [])] : [node === null ? 409 : 201]
    if (!status.includes(reply.status!)) {
      one.found(`a hold of ${wishes.join()}: ${reply.status} ${JSON.stringify(reply.body)}, not ${status.join(' or ')}`)
    }
    if (reply.status !== 201) return
    one.same('the node that is held', reply.body.reservation.node_uuid, node)
    this.#chronicle.note('hold', uuid, 'created')
    this.#promised.push({ kind: 'hold', id: uuid, uuid, node, until, wantsFast: false, candidates: [] })
  }

  /** Several at once, each another free node: that is decided in one batch, and nobody loses. */
  async holdTogether(): Promise<void> {
    const one = this.#one
    const until = wholeSecond(one.now() + FAR_MS)
    const room = ['nodes', `nodes:${this.#options.resourceClass}`].map(
      name => (this.#limits[name] ?? Infinity) - this.#promised.length,
    )
    const nodes = this.#free().slice(0, Math.max(0, Math.min(...room)))
    const asked = nodes.map(({ uuid: node }) => ({ uuid: one.chance.uuid(), instance: one.chance.uuid(), node }))
    const made = await Promise.all(
      asked.map(({ uuid, instance, node }) =>
        one.expect(201, 'POST', '/baremetal/v1/reservations', {
          uuid,
          instance_uuid: instance,
          node_uuid: [node],
          expires_at: instant(until),
        }),
      ),
    )
    for (const [i, { uuid, instance, node }] of asked.entries()) {
      const { reservation } = made[i]
      const shown = [reservation.uuid, reservation.node_uuid, reservation.instance_uuid]
      one.same('a hold that was made beside others', shown, [uuid, node, instance])
      this.#chronicle.note('hold', uuid, 'created')
      this.#promised.push({ kind: 'hold', id: uuid, uuid, node, until, wantsFast: false, candidates: [] })
    }
  }

  async giveBack(): Promise<void> {
    if (this.#promised.length === 0) return
    const promised = this.#one.chance.pick(this.#promised)
    await this.#end(promised)
    await this.#left([promised])
  }

  async #end(promised: Promised): Promise<void> {
    await this.#one.expect(204, 'DELETE', urlOf(promised))
    await this.#one.expect(404, 'GET', urlOf(promised))
    this.#chronicle.note(promised.kind, promised.uuid, promised.kind === 'hold' ? 'released' : 'ended')
  }

  /** Those who wait get what is free, in the order in which they came. */
  async #left(gone: readonly Promised[]): Promise<void> {
    this.#promised = this.#promised.filter(one => !gone.includes(one))
    for (const waiting of this.#promised.filter(({ node }) => node === null)) {
      const suits = this.#free().filter(node => this.#suits(waiting, node))
      if (suits.length === 0) continue
      const { node } = await this.#decided(waiting, 'active')
      this.#chronicle.note('allocation', waiting.uuid, 'active')
      if (!suits.some(({ uuid }) => uuid === node)) this.#one.found(`${waiting.id} waited, and has ${node}`)
      waiting.node = node
    }
  }

  async prolong(): Promise<void> {
    const one = this.#one
    const ending = this.#promised.filter(({ until, node }) => until !== null && node !== null)
    if (ending.length === 0) return
    const promised = one.chance.pick(ending)
    const until = wholeSecond(one.now() + one.chance.pick([FAR_MS, 5 * FAR_MS, 6_000]))
    const name = promised.kind === 'hold' ? 'longest_hold_hours' : 'longest_allocation_hours'
    const hours = this.#limits[name]
    const isTooLong = hours !== undefined && until > promised.until! && until - one.now() > hours * FAR_MS
    const body = [{ op: 'replace', path: '/expires_at', value: instant(until) }]
    await one.expect(isTooLong ? 403 : 200, 'PATCH', urlOf(promised), body)
    if (!isTooLong) {
      const became = promised.kind === 'allocation' && promised.until === until ? 'changed' : 'renewed'
      this.#chronicle.note(promised.kind, promised.uuid, became)
      promised.until = until
    }
    const shown = await one.get(urlOf(promised))
    one.same('the end', Date.parse((shown.reservation ?? shown).expires_at), promised.until)
  }

  /** Nothing ends before its time, and soon after it everything has. */
  async wait(): Promise<void> {
    const one = this.#one
    const { toleranceMs } = this.#options
    const next = this.#promised.filter(({ until }) => until !== null && until < one.now() + 10_000)
    if (next.length === 0) return
    const [first] = next.toSorted((a, b) => a.until! - b.until!)
    const early = first!.until! - toleranceMs - 300
    if (early > one.now()) {
      await one.sleep(early - one.now())
      if (one.now() < first!.until! - toleranceMs) await one.get(urlOf(first!))
    }
    const last = Math.max(...next.map(({ until }) => until!))
    await one.sleep(Math.max(0, last - one.now()) + SOON_MS)
    for (const promised of next) {
      await one.expect(404, 'GET', urlOf(promised))
      this.#chronicle.note(promised.kind, promised.uuid, promised.kind === 'hold' ? 'expired' : 'ended')
    }
    await this.#left(next)
  }

  /** A node that nobody has is taken out, or put back. */
  async maintain(): Promise<void> {
    const one = this.#one
    const out = this.#nodes.find(({ isOut }) => isOut)
    const free = this.#free()
    if (!out && free.length === 0) return
    const node = out ?? one.chance.pick(free)
    await one.expect(202, out ? 'DELETE' : 'PUT', `/baremetal/v1/nodes/${node.uuid}/maintenance`)
    node.isOut = !out
    if (out) await this.#left([])
  }

  async look(): Promise<void> {
    const one = this.#one
    // Who is about to end may be gone already.
    const isSure = ({ until }: Promised) => until === null || until > one.now() + this.#options.toleranceMs + 500
    if (!this.#promised.every(isSure)) return
    const { allocations } = await one.get(`/baremetal/v1/allocations?resource_class=${this.#options.resourceClass}`)
    const shown = (allocations as { name: string; state: string; node_uuid: string | null }[]).map(
      ({ name, state, node_uuid: node }) => [name, state, node],
    )
    const known = this.#promised
      .filter(({ kind }) => kind === 'allocation')
      .map(({ id, node }) => [id, node === null ? 'allocating' : 'active', node])
    one.same('the allocations of the class', inOrder(shown), inOrder(known))
    const { reservations } = await one.get('/baremetal/v1/reservations')
    const mine = (reservations as { uuid: string; node_uuid: string }[])
      .filter(({ node_uuid: node }) => this.#nodes.some(({ uuid }) => uuid === node))
      .map(({ uuid, node_uuid: node }) => [uuid, node])
    const holds = this.#promised.filter(({ kind }) => kind === 'hold')
    one.same('the holds', inOrder(mine), inOrder(holds.map(({ id, node }) => [id, node])))
    await lookAtPages(one, holds)
    await lookAtQueue(one, this.#promised)
    await this.#lookAtLimits()
    const node = one.chance.pick(this.#nodes)
    const { maintenance, allocation_uuid: allocation } = await one.get(`/baremetal/v1/nodes/${node.uuid}`)
    const has = this.#promised.some(({ kind, node: at }) => kind === 'allocation' && at === node.uuid)
    one.same(`node ${node.uuid}`, [maintenance, allocation !== null], [node.isOut, has])
  }

  /** The next episode has all nodes again. */
  async leave(): Promise<void> {
    const one = this.#one
    const wasLate = this.#promised.some(({ until }) => until !== null && until < one.now() + SOON_MS)
    for (const promised of this.#promised.toReversed()) {
      if (wasLate) await one.ask('DELETE', urlOf(promised))
      else await this.#end(promised)
    }
    if (!wasLate) await this.#chronicle.check()
    for (const { uuid, isOut } of this.#nodes) {
      if (isOut) await one.ask('DELETE', `/baremetal/v1/nodes/${uuid}/maintenance`)
    }
  }
}

export function ward(options: Options): Actor {
  const { until, pauseMs } = options
  let isDirty = false
  return episodes({ check: 'machines', until, pauseMs }, async one => {
    // An episode that ended without an answer has left something behind, and nothing is certain from then on.
    if (isDirty) return
    isDirty = true
    const mine = new Ward(one, options)
    const acts = [
      () => mine.allocate(),
      () => mine.allocate(),
      () => mine.allocate(),
      () => mine.hold(),
      () => mine.holdTogether(),
      () => mine.giveBack(),
      () => mine.giveBack(),
      () => mine.prolong(),
      () => mine.wait(),
      () => mine.maintain(),
      () => mine.limit(),
      () => mine.look(),
      () => mine.look(),
    ]
    await mine.limit()
    for (let i = 0; i < STEPS && one.now() < until; i++) {
      await one.chance.pick(acts)()
      await one.sleep(one.chance.int(pauseMs / 8))
    }
    await mine.look()
    await mine.leave()
    isDirty = false
  })
}
