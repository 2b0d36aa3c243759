// The fleet as the server shows it to this viewer, live. Each machine is a signal of its own, so that a change touches one
// tile; what is counted over all machines follows `version`, which moves at most ten times a second.
import { batch, createSignal, type Setter, untrack } from 'solid-js'
import type { Machine, Span, Status, StatusChange, StatusHost, Waiting } from '../../../src/client/status.ts'
import { setServerNow } from './clock.ts'
import { call, dropMissing, orderOf, spansByMachine } from './fleet-rows.ts'

interface Entry {
  /** Names with numbers in them sort by the numbers. */
  order: string
  row: () => Machine
  set: Setter<Machine>
}

const VERSION_MS = 100
/** Above so many changes at once nothing flashes: it would only flicker. */
const FLASHES_MAX = 20

const entries = new Map<string, Entry>()
const names = new Map<string, string>()
/** By name; null once a machine came, went or got another name. Sorting thousands takes longer than a frame. */
let inOrder: readonly Entry[] | null = null
let sorted: readonly Machine[] | null = null
let spansOf = new Map<string, readonly Span[]>()

const [version, setVersion] = createSignal(0)
const [isLoaded, setIsLoaded] = createSignal(false)
const [hosts, setHosts] = createSignal<readonly StatusHost[]>([])
const [waiting, setWaiting] = createSignal<readonly Waiting[]>([])
const [traits, setTraits] = createSignal<readonly string[]>([])
const [me, setMe] = createSignal<Status['me']>({ user: null, project: null, roles: [], may: [] })
const [flashes, setFlashes] = createSignal<ReadonlySet<string>>(new Set())

export const fleet = {
  /** Moves when any machine, span or order changed. */
  version,
  isLoaded,
  hosts,
  waiting,
  traits,
  me,
  /** The machines that changed just now. */
  flashes,
  /** All machines by name. */
  machines(): readonly Machine[] {
    version()
    inOrder ??= [...entries.values()].sort((a, b) => (a.order < b.order ? -1 : 1))
    // Whoever asks follows the version, not thousands of signals that would call it at once.
    return (sorted ??= untrack(() => inOrder!.map(({ row }) => row())))
  },
  /** One machine by its uuid, live; undefined if it is gone. */
  machine(uuid: string): Machine | undefined {
    const entry = entries.get(uuid)
    if (!entry) version()
    return entry?.row()
  },
  /** One machine by its name or uuid. */
  called(ident: string): Machine | undefined {
    version()
    return fleet.machine(names.get(ident) ?? ident)
  },
  /** What is promised of a machine, if spans were asked for. */
  spans(uuid: string): readonly Span[] {
    version()
    return spansOf.get(uuid) ?? []
  },
  traitsOf: (machine: Machine): string[] => machine.traits.map(place => traits()[place] ?? ''),
}

let due: ReturnType<typeof setTimeout> | null = null

/** Tells those who count over all machines, soon. */
function moveVersion(): void {
  sorted = null
  due ??= setTimeout(() => {
    due = null
    setVersion(before => before + 1)
  }, VERSION_MS)
}

/** Takes over what the server said. */
export function take(change: StatusChange): void {
  const isAll = change.since === null
  batch(() => {
    setServerNow(change.now)
    setTraits(change.traits)
    setMe(change.me)
    if (change.hosts !== null) setHosts(change.hosts)
    if (change.waiting !== null) setWaiting(change.waiting)
    const gone = isAll ? dropMissing(entries.keys(), change.machines) : change.gone
    for (const uuid of gone) drop(uuid)
    const changed = change.machines.filter(put).map(({ uuid }) => uuid)
    takeSpans(change, isAll)
    const isStorm = changed.length > FLASHES_MAX
    setFlashes(new Set(isLoaded() && !isStorm ? changed : []))
    if (!isLoaded()) {
      sorted = null
      setVersion(before => before + 1)
      setIsLoaded(true)
    } else if (changed.length > 0 || gone.length > 0 || change.spans.length > 0) moveVersion()
  })
}

/** Forgets everything, for another viewer. */
export function forget(): void {
  batch(() => {
    entries.clear()
    names.clear()
    spansOf = new Map()
    inOrder = null
    sorted = null
    setHosts([])
    setWaiting([])
    setTraits([])
    setFlashes(new Set<string>())
    setMe({ user: null, project: null, roles: [], may: [] })
    setIsLoaded(false)
    setVersion(before => before + 1)
  })
}

/** True if the machine is another than before. */
function put(machine: Machine): boolean {
  const { uuid, name } = machine
  const entry = entries.get(uuid)
  const order = orderOf(machine)
  if (!entry) {
    const [row, set] = createSignal(machine)
    entries.set(uuid, { order, row, set })
    inOrder = null
    call(names, uuid, null, name)
  } else {
    const before = entry.row()
    if (JSON.stringify(before) === JSON.stringify(machine)) return false
    call(names, uuid, before.name, name)
    if (entry.order !== order) inOrder = null
    entry.order = order
    entry.set(machine)
  }
  return true
}

function drop(uuid: string): void {
  const entry = entries.get(uuid)
  if (!entry) return
  call(names, uuid, entry.row().name, null)
  entries.delete(uuid)
  inOrder = null
  spansOf.delete(uuid)
}

/** Those of the machines that changed are all there are of them. */
function takeSpans({ machines, spans }: StatusChange, isAll: boolean): void {
  const found = spansByMachine(spans)
  if (isAll) {
    spansOf = found
    return
  }
  for (const { uuid } of machines) {
    const some = found.get(uuid)
    if (some) spansOf.set(uuid, some)
    else spansOf.delete(uuid)
  }
}
