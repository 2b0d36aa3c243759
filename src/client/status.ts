// The status: who has what, until when, who waits, and what comes. One answer for terminals, pages and programs.
// Times are ISO 8601 in UTC. `who` and `project` are names; null where there is nobody, and where you may not know.
import type { HoldfastError } from './errors.ts'
import { type Api, type Json, segment } from './wire.ts'

/** What a machine is, in one word. The first that is true, from the top. */
export type MachineState =
  | 'retired'
  | 'broken'
  | 'taken'
  | 'maintenance'
  | 'held'
  | 'working'
  | 'setup'
  | 'booked'
  | 'free'

/** What promises a machine: `claim` is one that other services made in the ledger. */
export type PromiseKind = 'allocation' | 'server' | 'instance' | 'claim' | 'hold' | 'lease'

export interface Machine {
  uuid: string
  name: string | null
  /** From `extra.rack` of the node or of its chassis, or the chassis's description up to a colon. */
  rack: string | null
  /** From `extra.slot`, or what follows the rack in the machine's name. */
  slot: string | null
  class: string | null
  state: MachineState
  /** What a conductor does with it just now, such as `cleaning`; null if it doesn't. */
  verb: string | null
  /** The provision state of the bare metal API. */
  provision: string
  power: string | null
  maintenance: boolean
  /** The names of the projects that own and lease it. */
  owner: string | null
  lessee: string | null
  /** Who has or holds it, and for which project. */
  who: string | null
  project: string | null
  /** The name of what has it, such as an allocation's. */
  what: string | null
  kind: PromiseKind | null
  /** The id of what has it; null where hidden. */
  id: string | null
  since: string | null
  /** When it ends; null without an end. */
  until: string | null
  /** The note of what has it. */
  purpose: string | null
  /** The next booking. */
  next: Booking | null
  /** Whether leases may book it. */
  bookable: boolean
  /** Why it is in maintenance or retired. */
  reason: string | null
  /** What went wrong last. */
  error: string | null
  /** The machine's own note: the node's description. */
  note: string | null
  /** The MAC addresses of its ports and the host of its BMC, where you may see them. */
  addresses: string[]
  /** Places in the answer's `traits`. */
  traits: number[]
  /** Whether your user has it, in your project. */
  mine: boolean
  /** What you may do with it and with what has it. */
  may: string[]
}

export interface Booking {
  /** The id of the lease; null where hidden. */
  id: string | null
  name: string | null
  who: string | null
  project: string | null
  start: string
  end: string
}

export interface StatusHost {
  uuid: string
  name: string
  /** By resource class. */
  used: Record<string, number>
  capacity: Record<string, number>
  /** The lease that has it as a whole now. */
  lease: Booking | null
}

export interface Waiting {
  uuid: string
  name: string | null
  who: string | null
  project: string | null
  class: string
  traits: string[]
  count: number
  /** When the machine would be given back: an instant; null without an end. */
  for: string | null
  since: string
  gives_up: string | null
  /** 1 is the first; null for one that gave up. */
  place: number | null
  /** How many wait for the same machines. */
  of: number
  /** When it likely begins; null if nobody can tell. */
  start: string | null
  because: { machine: string; what: string | null; end: string } | null
  /** The uuids of the machines that would do. */
  suits: string[]
  state: 'waiting' | 'gave up'
  reason: string | null
  relaxations: Json[]
  mine: boolean
  may: string[]
}

/** A promise on a machine, in time. Nameless where you may not know whose it is. */
export interface Span {
  /** The uuid of the machine. */
  machine: string
  kind: PromiseKind | 'maintenance'
  id: string | null
  name: string | null
  who: string | null
  project: string | null
  /** null if it isn't known when it began. */
  start: string | null
  /** null without an end. */
  end: string | null
  mine: boolean
  may: string[]
}

export interface Status {
  /** The place in the log up to which all of this is true. Events after it are what happened since. */
  sequence: string
  now: string
  me: {
    user: string | null
    project: string | null
    roles: string[]
    /** What you may make, and see besides the machines. */
    may: string[]
  }
  /** The names of the traits that machines have. */
  traits: string[]
  machines: Machine[]
  hosts: StatusHost[]
  waiting: Waiting[]
  /** Empty unless asked for. */
  spans: Span[]
}

/** What changed since a place in the log. */
export interface StatusChange extends Omit<Status, 'hosts' | 'waiting'> {
  /** The `sequence` that it goes on from; null if this is all there is, and nothing before it counts. */
  since: string | null
  /** Come back with it as `since`, and you are told what changed after this. */
  cursor: string
  /** The uuids of machines that are no longer seen. */
  gone: string[]
  /** All of them; null if none changed. */
  hosts: StatusHost[] | null
  waiting: Waiting[] | null
}

export interface StatusFilter {
  class?: string | undefined
  trait?: string | undefined
  /** A project's name or id: who owns, leases or has it. */
  project?: string | undefined
  /** A user's name or id. */
  who?: string | undefined
  rack?: string | undefined
  state?: MachineState | undefined
}

export interface StatusWanted {
  /** Also what is promised between two instants. */
  spans?: { from: string; to: string } | undefined
  /** Only what your user has in your project. */
  mine?: boolean | undefined
  where?: StatusFilter | undefined
}

export interface StatusFollowed {
  /** The `cursor` of the last change that you know. With the same `spans`, or everything is told again. */
  since?: string | undefined
  /** Also what is promised between two instants. */
  spans?: StatusWanted['spans']
  /** Ends it. */
  signal?: AbortSignal | undefined
  /** Called when the server said something, at least every 2 s: what you see is true now. */
  heard?: (() => void) | undefined
  /** Called when the connection ended, with the error if there was one. It comes back by itself, after so long. */
  lost?: ((error: HoldfastError | null, retryMs: number) => void) | undefined
}

/** A verb, and whether you may use it on the machine now. */
export interface VerbOf {
  verb: string
  may: boolean
  why_not: string | null
}

export interface Past {
  at: string
  /** What became of it, such as `allocation active`. */
  what: string
  /** The state that it came to, where it came to one: such as `active`. */
  to: string | null
  /** The name of the object, such as the allocation. */
  name: string | null
  who: string | null
  project: string | null
  /** The id of the request that did it, as the audit has it. */
  request: string | null
  /** Why it failed, why it is in maintenance, or what a hook or a conductor told. */
  reason: string | null
  /** What a hook of the operator's printed. Operators see it. */
  output: string | null
}

export interface MachineInFull {
  sequence: string
  now: string
  /** The names that the machine's `traits` point to. */
  traits: string[]
  machine: Machine
  ports: { uuid: string; address: string; name: string | null; physical_network: string | null }[]
  /** The properties of the node. */
  hardware: Json
  verbs: VerbOf[]
  spans: Span[]
  /** Newest first. */
  history: Past[]
}

export const statusAt =
  (api: Api) =>
  ({ spans, mine, where = {} }: StatusWanted = {}): Promise<Status> =>
    api.get<Status>('/status', {
      ...where,
      spans: spans && `${spans.from}/${spans.to}`,
      mine: mine === true ? true : undefined,
    })

export const machineAt =
  (api: Api) =>
  (ident: string): Promise<MachineInFull> =>
    api.get<MachineInFull>(`/status/${segment(ident)}`)
