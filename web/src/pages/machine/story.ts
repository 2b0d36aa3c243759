// What happened to a machine, as sentences; and who had it, as stretches of time.
import type { MachineState, Past } from '../../../../src/client/status.ts'
import { words } from '../../words.ts'

interface Story {
  glyph: MachineState
  /** null where nobody is named: then the words stand by themselves. */
  who: string | null
  project: string | null
  words: string
  /** What the words end with: a state, or a name. */
  strong: string | null
  /** Why, as it was told. */
  why: string | null
}

/** The verb that led to a state in which a conductor works. */
const BUSY: Readonly<Record<string, string>> = {
  verifying: 'manage',
  inspecting: 'inspect',
  adopting: 'adopt',
  cleaning: 'clean',
  deploying: 'deploy',
  deleting: 'undeploy',
  rescuing: 'rescue',
  unrescuing: 'unrescue',
}

const GLYPHS: Readonly<Record<string, MachineState>> = {
  available: 'free',
  active: 'taken',
  enroll: 'setup',
  manageable: 'setup',
  'power on': 'taken',
  'power off': 'free',
}

function glyphOf(to: string | null): MachineState {
  if (to === null) return 'setup'
  if (/fail|error/.test(to)) return 'broken'
  return GLYPHS[to] ?? 'working'
}

/** Without a name there is nothing to lead to it. */
const nameless = (said: string) => said.replace(/(?: for|:)$/, '')

export function storyOf({ what, to, name, who, project, request, reason }: Past): Story {
  const [kind, became] = what.split(' ') as [string, string]
  const base = { who, project, why: reason }
  const { story } = words.machine
  if (kind === 'allocation' || kind === 'hold') {
    const glyph = kind === 'hold' ? 'held' : became === 'ended' ? 'free' : 'taken'
    const told = (story[kind] as Readonly<Record<string, string>>)[became]
    const said = told ?? became
    return { ...base, who: who ?? words.someone, glyph, words: name === null ? nameless(said) : said, strong: name }
  }
  if (became === 'hook' || became === 'take-over')
    return { ...base, glyph: became === 'hook' ? 'setup' : 'broken', words: story.note[became], strong: null }
  const voice = who === null ? story.nobody : story.somebody
  if (became === 'provision_state' && to !== null) {
    const verb = BUSY[to]
    if (verb !== undefined && who !== null) return { ...base, glyph: 'working', words: story.askedTo, strong: verb }
    return { ...base, glyph: glyphOf(to), words: voice.became, strong: to }
  }
  if (became === 'power_state') {
    if (to === null) return { ...base, glyph: 'broken', words: voice.unknown, strong: null }
    // Nobody asked for it: the conductor looked, and it was so.
    const said = who === 'conductor' && request === null ? story.found : voice.switched
    return { ...base, glyph: glyphOf(to), words: said, strong: to.replace('power ', '') }
  }
  if (became === 'maintenance') {
    const [glyph, said] =
      to === null ? (['free', voice.maintained] as const) : (['maintenance', voice.inMaintenance] as const)
    return { ...base, glyph, words: said, strong: null }
  }
  const said = { created: voice.created, traits: voice.traits, changed: voice.changed, deleted: voice.deleted }[became]
  return { ...base, glyph: 'setup', words: said ?? became.replaceAll('_', ' '), strong: null }
}

/** A time in which somebody had the machine. */
export interface Stretch {
  who: string | null
  project: string | null
  name: string | null
  from: string | null
  /** null if it lasts. */
  to: string | null
}

/** Who had it, newest first. The history is newest first, and may begin in the middle. */
export function stretchesOf(history: readonly Past[]): Stretch[] {
  const found: Stretch[] = []
  for (const { at, what, name, who, project } of history.toReversed()) {
    if (what === 'allocation active') found.push({ who, project, name, from: at, to: null })
    if (what !== 'allocation ended') continue
    const open = found.findLast(one => one.to === null && one.name === name)
    if (open) open.to = at
    else found.push({ who, project, name, from: null, to: at })
  }
  return found.toReversed()
}
