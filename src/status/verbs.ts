// What can be done with a machine and with what has it, as far as its state decides. Who may do it is the policy's.
import { DELETABLE, transitionFor, type Verb } from '../metal/nodes/states.ts'
import type { State } from '../store/schema/states.ts'
import type { MachineRow, PromiseKind } from './machine.ts'
import type { Word } from './state.ts'

/** What the verbs depend on. Machines in the same situation have the same verbs. */
export interface Situation {
  provision: State
  word: Word
  isInMaintenance: boolean
  isRetired: boolean
  isProtected: boolean
  isBookable: boolean
  hasInstance: boolean
  hasClass: boolean
  isHeld: boolean
  /** What has it now. */
  kind: PromiseKind | null
  hasEnd: boolean
}

export function situationOf({ source: { node }, word, promise }: MachineRow): Situation {
  return {
    provision: node.provision_state,
    word,
    isInMaintenance: node.maintenance === 1,
    isRetired: node.retired === 1,
    isProtected: node.protected === 1,
    isBookable: node.leasable === 1,
    hasInstance: node.instance_uuid !== null,
    hasClass: node.resource_class !== null,
    isHeld: promise?.kind === 'hold',
    kind: promise?.kind ?? null,
    hasEnd: promise !== null && promise.end !== null,
  }
}

/** The verbs of the state table, in the command's words. */
const PROVISION = {
  manage: 'manage',
  provide: 'provide',
  inspect: 'inspect',
  clean: 'clean',
  adopt: 'adopt',
  deploy: 'active',
  rebuild: 'rebuild',
  undeploy: 'deleted',
  rescue: 'rescue',
  unrescue: 'unrescue',
  abort: 'abort',
} as const satisfies Record<string, Verb>

type ProvisionVerb = keyof typeof PROVISION
export type MachineVerb =
  | ProvisionVerb
  | 'power'
  | 'boot'
  | 'maintenance'
  | 'note'
  | 'traits'
  | 'bookable'
  | 'delete'
  | 'allocate'
  | 'reserve'
  | 'book'

/** Verbs on what has the machine. */
export type PromiseVerb = 'extend' | 'move' | 'note' | 'release'

const INSTALLING: ReadonlySet<ProvisionVerb> = new Set(['deploy', 'adopt', 'rebuild'])
const AT_WORK = 'A conductor is at work on it.'

function whyNotProvision(verb: ProvisionVerb, at: Situation): string | null {
  if (!transitionFor(PROVISION[verb], at.provision)) return `Not in state ${at.provision}.`
  if (at.isInMaintenance) return 'It is in maintenance.'
  if (at.isProtected && (verb === 'undeploy' || verb === 'rebuild')) return 'It is protected.'
  const isNew = verb === 'deploy' && at.provision === 'available'
  if (at.isRetired && (verb === 'provide' || isNew)) return 'It is retired.'
  if (at.isHeld && isNew) return 'It is held: name the reservation to deploy it.'
  if (at.hasInstance || !INSTALLING.has(verb)) return null
  if (at.isBookable) return 'It has no instance, and leases may book it.'
  return isNew && at.kind !== null ? 'It is claimed by another service.' : null
}

const canBeHad = ({ word, hasClass }: Situation) =>
  word !== 'free' && word !== 'booked' ? `It is ${word}.` : hasClass ? null : 'It has no resource class.'

const OTHERS: Readonly<Record<Exclude<MachineVerb, ProvisionVerb>, (at: Situation) => string | null>> = {
  power: ({ word }) => (word === 'working' ? AT_WORK : null),
  boot: ({ word }) => (word === 'working' ? AT_WORK : null),
  maintenance: () => null,
  note: () => null,
  traits: () => null,
  bookable: () => null,
  delete: at =>
    at.hasInstance || at.kind !== null
      ? `It is ${at.word}.`
      : DELETABLE.has(at.provision) || at.isInMaintenance
        ? null
        : `Not in state ${at.provision}.`,
  allocate: canBeHad,
  reserve: at => canBeHad(at) ?? (at.isBookable ? 'Leases may book it, and a hold would be in their way.' : null),
  book: ({ isBookable, isRetired }) => (isRetired ? 'It is retired.' : isBookable ? null : 'Leases can not book it.'),
}

/** Every verb on machines, and why it can't be used now; null if it can. */
export const verbsIn = (at: Situation): [MachineVerb, string | null][] => [
  ...(Object.keys(PROVISION) as ProvisionVerb[]).map((verb): [MachineVerb, string | null] => [
    verb,
    whyNotProvision(verb, at),
  ]),
  ...Object.entries(OTHERS).map(([verb, whyNot]): [MachineVerb, string | null] => [verb as MachineVerb, whyNot(at)]),
]

/** The verbs on a promise of this kind. One without an end can't be extended. */
export function promiseVerbs({ kind, hasEnd }: Pick<Situation, 'kind' | 'hasEnd'>): PromiseVerb[] {
  const extend: PromiseVerb[] = hasEnd ? ['extend'] : []
  if (kind === 'lease') return [...extend, 'move', 'release']
  if (kind === 'allocation') return [...extend, 'note', 'release']
  if (kind === 'hold') return [...extend, 'release']
  return kind === 'server' ? ['release'] : []
}
