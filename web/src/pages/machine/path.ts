// The way of a machine through its states, with the verbs under the state that they start from.
import type { VerbOf } from '../../../../src/client/status.ts'
import { FORBIDDEN } from '../../data/forbidden.ts'
import { words } from '../../words.ts'

export interface PathVerb {
  verb: string
  /** Why it can't be used now; null if it can. */
  whyNot: string | null
}

interface PathStep {
  state: string
  isHere: boolean
  isFailed: boolean
  verbs: PathVerb[]
}

const WAY: readonly { state: string; verbs: readonly string[] }[] = [
  { state: 'enroll', verbs: ['manage'] },
  { state: 'manageable', verbs: ['provide', 'clean', 'inspect', 'adopt'] },
  { state: 'available', verbs: ['deploy', 'manage'] },
  { state: 'active', verbs: ['rebuild', 'undeploy', 'rescue'] },
]

/** States beside the way: after which state they are shown. */
const BESIDE: Readonly<Record<string, string>> = {
  'clean failed': 'manageable',
  'inspect failed': 'manageable',
  'adopt failed': 'manageable',
  'deploy failed': 'available',
}

const PROVISION = new Set([...WAY.flatMap(({ verbs }) => verbs), 'unrescue', 'abort'])

/** Such verbs aren't shown at all. */
export const isForbidden = ({ why_not }: VerbOf) => why_not === FORBIDDEN

export function pathOf(provision: string, verbs: readonly VerbOf[]): PathStep[] {
  const allowed = verbs.filter(verb => !isForbidden(verb))
  const known = new Map(allowed.map(one => [one.verb, one]))
  const path = WAY.map(({ state, verbs: own }): PathStep => ({
    state,
    isHere: state === provision,
    isFailed: false,
    verbs: own
      .filter(verb => known.has(verb))
      .map(verb => ({
        verb,
        whyNot: state === provision ? known.get(verb)!.why_not : words.machine.onlyFrom(state),
      })),
  }))
  if (path.some(({ isHere }) => isHere)) return path
  const here: PathStep = {
    state: provision,
    isHere: true,
    isFailed: /fail|error/.test(provision),
    verbs: allowed.filter(({ verb, may }) => may && PROVISION.has(verb)).map(({ verb }) => ({ verb, whyNot: null })),
  }
  const before = path.findIndex(({ state }) => state === (BESIDE[provision] ?? 'active'))
  return path.toSpliced(before + 1, 0, here)
}

/** Where what a conductor does comes from and leads to. */
const WORK: Readonly<Record<string, readonly [from: string, to: string]>> = {
  verifying: ['enroll', 'manageable'],
  inspecting: ['manageable', 'manageable'],
  'inspect wait': ['manageable', 'manageable'],
  cleaning: ['manageable', 'available'],
  'clean wait': ['manageable', 'available'],
  adopting: ['manageable', 'active'],
  deploying: ['available', 'active'],
  'wait call-back': ['available', 'active'],
  deleting: ['active', 'available'],
  rescuing: ['active', 'rescue'],
  'rescue wait': ['active', 'rescue'],
  unrescuing: ['rescue', 'active'],
}

/** Null if nobody works on it. */
export const workOf = (provision: string): { from: string; to: string } | null => {
  const [from, to] = WORK[provision] ?? []
  return from === undefined || to === undefined ? null : { from, to }
}
