// What a caller sees on the board, and may do with it. Decided as for the objects themselves, but once for all machines
// that are alike: rules ask only whether a thing is of the caller's project.
import type { Target } from '../../identity/policy.ts'
import { type MachinePromise, PROMISE_KINDS, type PromiseKind } from '../../status/machine.ts'
import type { BoardEntry } from '../../status/table.ts'
import { LESSEE, OWNER, relationTo, type Sight } from '../../status/shown.ts'
import { type MachineVerb, promiseVerbs, type PromiseVerb, type Situation, verbsIn } from '../../status/verbs.ts'
import type { WaitingPart } from '../../status/rows.ts'
import type { Action } from '../policy.ts'
import type { OperatorRequest } from './request.ts'

/** For each kind of promise: who sees it, and who may change it. */
const PROMISES: Readonly<
  Record<PromiseKind, Record<'seesAll' | 'reads', Action> & Partial<Record<PromiseVerb, Action>>>
> = {
  allocation: {
    seesAll: 'baremetal:node:list_all',
    reads: 'baremetal:allocation:get',
    extend: 'baremetal:allocation:update',
    note: 'baremetal:allocation:update',
    release: 'baremetal:allocation:delete',
  },
  hold: {
    seesAll: 'baremetal:node:list_all',
    reads: 'baremetal:reservation:get',
    extend: 'baremetal:reservation:update',
    release: 'baremetal:reservation:delete',
  },
  lease: {
    seesAll: 'blazar:leases:list_all',
    reads: 'blazar:leases:get',
    extend: 'blazar:leases:put',
    move: 'blazar:leases:put',
    release: 'blazar:leases:delete',
  },
  server: {
    seesAll: 'os_compute_api:servers:list_all',
    reads: 'os_compute_api:servers:show',
    release: 'os_compute_api:servers:delete',
  },
  // An instance is shown with its node.
  instance: { seesAll: 'baremetal:node:list_all', reads: 'baremetal:node:get' },
  claim: { seesAll: 'baremetal:node:list_all', reads: 'placement:allocations:list' },
}

const OWNERS: Action = 'baremetal:node:set_provision_state'
const TENANTS: Action = 'baremetal:node:deploy'

const MACHINE: Readonly<Record<MachineVerb, Action>> = {
  manage: OWNERS,
  provide: OWNERS,
  inspect: OWNERS,
  clean: OWNERS,
  adopt: OWNERS,
  abort: OWNERS,
  deploy: TENANTS,
  rebuild: TENANTS,
  undeploy: TENANTS,
  rescue: TENANTS,
  unrescue: TENANTS,
  power: 'baremetal:node:set_power_state',
  boot: 'baremetal:node:set_boot_device',
  maintenance: 'baremetal:node:set_maintenance',
  note: 'baremetal:node:update',
  traits: 'baremetal:node:traits:set',
  bookable: 'holdfast:leasable_nodes:set',
  delete: 'baremetal:node:delete',
  allocate: 'baremetal:allocation:create',
  reserve: 'baremetal:reservation:create',
  book: 'blazar:leases:post',
}

/** What callers may make or see, besides what is about one thing. */
const NEW: Readonly<Record<string, Action>> = {
  allocate: 'baremetal:allocation:create',
  'allocate for others': 'baremetal:allocation:create_for_others',
  reserve: 'baremetal:reservation:create',
  book: 'blazar:leases:post',
  'create server': 'os_compute_api:servers:create',
  'create node': 'baremetal:node:create',
  'create webhook': 'holdfast:webhooks:set',
  'set quota': 'holdfast:quotas:set',
  'see capacity': 'holdfast:capacity:get',
  'see health': 'holdfast:health:get',
}

/** How what has a machine is related to the caller, as bits beside those of the machine. */
const PROMISE = 4
const MINE = 8
const RELATIONS = 16

export class StatusRights {
  readonly sight: Sight
  /** Callers with the same key get the same text. */
  readonly key: string
  readonly #request: OperatorRequest
  /** By relation to the caller's project. */
  readonly #sees: readonly boolean[]
  /** The ends of rows, by situation and relation. */
  readonly #tails: (Buffer | undefined)[] = []

  constructor(request: OperatorRequest) {
    this.#request = request
    const { project } = request.caller
    const may = (action: Action, target: Target = {}) => request.may(action, target)
    const seesAll = may('baremetal:node:list_all')
    const open = PROMISE_KINDS.filter(kind => may(PROMISES[kind].seesAll) && may(PROMISES[kind].reads))
    // What has a node is shown with it to the project that has it.
    const own = PROMISE_KINDS.filter(
      kind => kind === 'instance' || kind === 'claim' || may(PROMISES[kind].reads, { project }),
    )
    const each = (action: Action) =>
      [0, OWNER, LESSEE, OWNER | LESSEE].map(relation => (seesAll || relation > 0) && may(action, this.#node(relation)))
    this.#sees = each('baremetal:node:get')
    const [ports, bmc] = [each('baremetal:port:get'), each('baremetal:node:get:driver_info')]
    // Whoever sees all that there is sees the same, whatever the project.
    const seen = [...this.#sees, ...ports, ...bmc]
    const isWhole = seen.every(Boolean) && open.length === PROMISE_KINDS.length
    const key = isWhole ? '' : `${seen.map(Number).join('')} ${open.join()} ${own.join()} ${project}`
    this.sight = { key, project, seesAll, open: new Set(open), own: new Set(own), ports, bmc }
    const { user, roles, systemScope } = request.caller
    this.key = JSON.stringify([user, project, [...roles].sort(), systemScope])
  }

  /** How the machine is related to the caller; null if the caller doesn't see it. */
  relationOf({ row: { source, promise } }: BoardEntry): number | null {
    const relation = relationTo(this.sight, source.node)
    if (!this.#sees[relation]!) return null
    return promise === null ? relation : relation | this.#toPromise(promise)
  }

  /** Whether the caller sees machines of these projects. */
  seesMachineOf(node: Parameters<typeof relationTo>[1]): boolean {
    return this.#sees[relationTo(this.sight, node)]!
  }

  isMine(relation: number): boolean {
    return (relation & MINE) > 0
  }

  /** The end of a row: what is the caller's own, and what it may do. */
  tailOf(entry: BoardEntry, relation: number, situation: (place: number) => Situation): Buffer {
    const place = entry.situation * RELATIONS + relation
    return (this.#tails[place] ??= Buffer.from(
      `,"mine":${this.isMine(relation)},"may":${JSON.stringify(this.mayWith(situation(entry.situation), relation))}}`,
    ))
  }

  mayWith(at: Situation, relation: number): string[] {
    const verbs = verbsIn(at).filter(([verb, whyNot]) => whyNot === null && this.mayUse(verb, relation))
    const onPromise = at.kind === null ? [] : this.#mayWithPromise(at.kind, at.hasEnd, relation)
    // The machine has a note of its own.
    return [...verbs.map(([verb]) => verb), ...onPromise.map(verb => (verb === 'note' ? 'purpose' : verb))]
  }

  /** Whether the policy lets the caller use the verb on such a machine. */
  mayUse(verb: MachineVerb, relation: number): boolean {
    return this.#request.may(MACHINE[verb], this.#node(relation))
  }

  mayWithSpan(promise: MachinePromise): string[] {
    return this.#mayWithPromise(promise.kind, promise.end !== null, this.#toPromise(promise))
  }

  isMinePromise = (promise: MachinePromise): boolean => this.isMine(this.#toPromise(promise))

  /** Requests are seen as allocations are. */
  seesWaiting({ owner }: WaitingPart): boolean {
    return this.sight.open.has('allocation') || this.#isOwn('baremetal:allocation:get', owner)
  }

  isMineWaiting = ({ user_id, project_id }: WaitingPart): boolean =>
    user_id === this.#request.user && project_id === this.#request.project

  mayWithWaiting({ owner, state }: WaitingPart): string[] {
    const may = (action: Action) => this.#request.may(action, { project: owner })
    return [
      ...(may('baremetal:allocation:delete') ? ['delete'] : []),
      ...(state === 'allocating' && may('holdfast:queue:set') ? ['priority'] : []),
      ...(state === 'allocating' && may('baremetal:allocation:update') ? ['wait'] : []),
      ...(state === 'error' && may('holdfast:allocation:retry') ? ['retry'] : []),
    ]
  }

  get seesHosts(): boolean {
    return this.#request.may('os_compute_api:os-hypervisors:list', {})
  }

  get mayMake(): string[] {
    const own = { project: this.sight.project }
    return Object.keys(NEW).filter(verb => this.#request.may(NEW[verb]!, own))
  }

  #isOwn(action: Action, owner: string | null): boolean {
    return owner !== null && owner === this.sight.project && this.#request.may(action, { project: owner })
  }

  #toPromise({ owner, user, project }: MachinePromise): number {
    const isOwn = owner !== null && owner === this.sight.project
    const isMine = user === this.#request.user && project === this.#request.project
    return (isOwn ? PROMISE : 0) | (isMine ? MINE : 0)
  }

  /** To end what another has is to take it back. */
  #mayWithPromise(kind: PromiseKind, hasEnd: boolean, relation: number): string[] {
    const isOwn = (relation & PROMISE) > 0
    if (!isOwn && !this.sight.open.has(kind)) return []
    const target = { project: isOwn ? this.sight.project : null }
    const actions = PROMISES[kind]
    return promiseVerbs({ kind, hasEnd })
      .filter(verb => actions[verb] !== undefined && this.#request.may(actions[verb], target))
      .map(verb => (verb === 'release' && !this.isMine(relation) ? 'kick' : verb))
  }

  #node(relation: number): Target {
    const { project } = this.#request.caller
    return { owner: relation & OWNER ? project : null, lessee: relation & LESSEE ? project : null }
  }
}
