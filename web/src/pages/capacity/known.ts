// What there is, kept up to date while the page is shown.
import { createEffect, createMemo, createResource, createSignal, on, onCleanup } from 'solid-js'
import { ApiError } from '../../../../src/client/errors.ts'
import { followCapacity, readCapacity } from '../../data/capacity.ts'
import { type Branch, isOfLease, sumsOf, treesOf, type Use } from '../../data/capacity-tree.ts'
import { reasonOf } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import type { Known } from './ask.tsx'
import { inOrder } from './columns.ts'

/** So long after a change it is read again, at the soonest. */
const AGAIN_MS = 250
/** It is read now and then, whatever is heard. */
const LOOK_MS = 10_000
/** And later where there is more to read. */
const AGAIN_MS_EACH = 0.2

export interface Capacity {
  isLoaded: () => boolean
  isForbidden: () => boolean
  error: () => string | null
  reload: () => void
  /** Moves when something else was read. */
  version: () => number
  trees: () => readonly Branch[]
  /** Without the machines. */
  hosts: () => readonly Branch[]
  totals: () => readonly (readonly [string, Use])[]
  /** The traits that every host has. */
  usual: () => ReadonlySet<string>
  known: () => Known
  nameOf: (uuid: string) => string
}

export function createCapacity(): Capacity {
  const [read, { refetch }] = createResource(
    () => fleet.isLoaded(),
    () => readCapacity(),
  )
  const isRefused = () => read.error !== undefined
  let last: Awaited<ReturnType<typeof readCapacity>> = []
  const [version, setVersion] = createSignal(0)
  let due: ReturnType<typeof setTimeout> | undefined
  const again = () => {
    due ??= setTimeout(
      () => {
        due = undefined
        void Promise.resolve(refetch()).catch(() => {})
      },
      AGAIN_MS + AGAIN_MS_EACH * last.length,
    )
  }
  createEffect(on([fleet.version, fleet.hosts], again, { defer: true }))
  // Claims on what is no machine and no hypervisor aren't in the status.
  const ended = new AbortController()
  void followCapacity(again, ended.signal)
  const timer = setInterval(() => document.visibilityState === 'visible' && again(), LOOK_MS)
  onCleanup(() => {
    ended.abort()
    clearInterval(timer)
    clearTimeout(due)
  })
  const providers = createMemo(() => {
    // What was read before stays while it is read again, and when that fails.
    if (!isRefused() && read.latest !== undefined) last = read.latest
    return last
  })
  let before = ''
  createEffect(() => {
    const now = JSON.stringify(providers())
    if (now === before) return
    before = now
    setVersion(number => number + 1)
  })
  const trees = createMemo(() => treesOf(providers()))
  const isMachine = ({ provider }: Branch) => fleet.machine(provider.uuid) !== undefined
  const hosts = createMemo(() => trees().filter(tree => !isMachine(tree)))
  const sums = createMemo(() => sumsOf(hosts().map(tree => tree.sums)))
  const totals = createMemo(() =>
    [...sums()].filter(([name]) => !isOfLease(name)).toSorted(([a], [b]) => inOrder(a, b)),
  )
  const usual = createMemo(() => {
    const all = hosts().filter(({ sums: has }) => has.size > 0)
    const [first] = all
    return new Set([...(first?.traits ?? [])].filter(trait => all.every(({ traits }) => traits.has(trait))))
  })
  const names = createMemo(() => new Map(providers().map(({ uuid, name }) => [uuid, name])))
  const known = createMemo((): Known => ({
    resources: [...new Set(trees().flatMap(tree => [...tree.sums.keys()]))]
      .filter(name => !isOfLease(name))
      .toSorted(inOrder),
    traits: [...new Set(trees().flatMap(tree => [...tree.traits]))].toSorted(),
    roots: hosts().map(({ provider: { uuid, name } }) => ({ uuid, name })),
  }))
  return {
    // A reading that failed has nothing, and throws when it is asked.
    isLoaded: () => last.length > 0 || (!isRefused() && read.latest !== undefined),
    isForbidden: () => read.error instanceof ApiError && read.error.status === 403,
    error: () => (isRefused() ? reasonOf(read.error) : null),
    reload: () => void refetch(),
    version,
    trees,
    hosts,
    totals,
    usual,
    known,
    nameOf: uuid => names().get(uuid) ?? uuid.slice(0, 8),
  }
}
