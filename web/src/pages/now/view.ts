// What the page shows, as the address says it: view, groups, order, filters. All of it replaces the history entry.
import { useSearchParams } from '@solidjs/router'
import { type Accessor, createMemo, createSignal, onCleanup } from 'solid-js'
import { instantTyped, minute } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import type { Machine } from '../../../../src/client/status.ts'
import {
  type FilterName,
  FILTERS,
  type Filters,
  filtersIn,
  isAnySet,
  type Matcher,
  matcherOf,
  toggled,
} from '../../data/filter.ts'
import {
  changesBetween,
  type Grouping,
  GROUPINGS,
  groupsOf,
  hostGroups,
  type Layout,
  sameLayout,
  type Sort,
  type SortColumn,
  SORTS,
} from './groups.ts'
import { type Survey, survey } from './survey.ts'

export interface NowView {
  view: () => 'tiles' | 'table'
  grouping: () => Grouping
  sort: () => Sort
  isWall: () => boolean
  filters: () => Filters
  isFiltered: () => boolean
  matcher: () => Matcher
  survey: () => Survey
  set: (changes: Partial<Record<FilterName | 'view' | 'group' | 'sort', string | null>>) => void
  toggle: (name: FilterName, value: string) => void
  clear: () => void
}

const among = <T extends string>(all: readonly T[], word: string): T | undefined => all.find(one => one === word)

export function createView(): NowView {
  const [query, setQuery] = useSearchParams()
  const said = (name: string) => [query[name] ?? ''].flat()[0] ?? ''
  const view = () => (said('view') === 'table' ? 'table' : 'tiles')
  const sort = createMemo((): Sort => {
    const [, sign = '', word = ''] = /^(-?)(.*)$/.exec(said('sort')) ?? []
    return { by: among<SortColumn>(SORTS, word) ?? 'machine', isDown: sign === '-' }
  })
  const filters = createMemo(() => filtersIn(query), undefined, {
    equals: (a, b) => FILTERS.every(name => a[name] === b[name]),
  })
  const traits = createMemo(() => fleet.traits(), undefined, {
    equals: (a, b) => a.length === b.length && a.every((trait, at) => trait === b[at]),
  })
  const matcher = createMemo(() =>
    // Only an end in so many hours moves with the time.
    matcherOf(filters(), {
      now: filters().until === '' ? 0 : minute(),
      traits: traits(),
      instantIn: instantTyped,
    }),
  )
  const set: NowView['set'] = changes => setQuery(changes, { replace: true })
  return {
    view,
    sort,
    filters,
    matcher,
    set,
    grouping: () => among(GROUPINGS, said('group')) ?? 'rack',
    isWall: () => query['wall'] !== undefined,
    isFiltered: createMemo(() => isAnySet(filters())),
    survey: createMemo(() => survey(fleet.machines(), matcher())),
    toggle: (name, value) => set({ [name]: toggled(filters()[name], value) }),
    clear: () => set(Object.fromEntries(FILTERS.map(name => [name, null]))),
  }
}

export interface Frozen {
  layout: Accessor<Layout>
  /** How many changes wait to be shown. */
  waiting: Accessor<number>
  show: () => void
  /** Watches whether the pointer or the focus is inside. */
  watch: (element: HTMLElement) => void
}

/** Order and groups as they are shown: they stand still while the pointer or the focus is inside. */
export function createFrozen(view: NowView, current: Accessor<string | null>): Frozen {
  const [isPointed, setIsPointed] = createSignal(false)
  const [hasFocus, setHasFocus] = createSignal(false)
  const [asked, setAsked] = createSignal(0)
  const isInside = () => !view.isWall() && (isPointed() || hasFocus())
  const live = createMemo(() => layoutOf(view, hasFocus() ? current() : null), undefined, { equals: sameLayout })
  let shownFor = 0
  const layout = createMemo((before: Layout | undefined): Layout => {
    const [now, times] = [live(), asked()]
    if (before && isInside() && before.question === now.question && times === shownFor) return before
    shownFor = times
    return now
  })
  const watch = (element: HTMLElement) => {
    const enter = ({ pointerType }: PointerEvent) => pointerType !== 'touch' && setIsPointed(true)
    const leave = () => setIsPointed(false)
    const look = () => setHasFocus(element.contains(document.activeElement))
    element.addEventListener('pointerenter', enter)
    element.addEventListener('pointerleave', leave)
    // Where the focus goes is known only after it has left.
    const later = () => queueMicrotask(look)
    element.addEventListener('focusin', look)
    document.addEventListener('focusout', later)
    onCleanup(() => {
      element.removeEventListener('pointerenter', enter)
      element.removeEventListener('pointerleave', leave)
      element.removeEventListener('focusin', look)
      document.removeEventListener('focusout', later)
    })
  }
  return {
    layout,
    waiting: createMemo(() => changesBetween(layout(), live())),
    show: () => setAsked(times => times + 1),
    watch,
  }
}

/** The machine with the focus stays, whatever the filters say. */
function layoutOf(view: NowView, focused: string | null): Layout {
  const [grouping, sort, filters] = [view.grouping(), view.sort(), view.filters()]
  const question = JSON.stringify([view.view(), grouping, sort, filters])
  const { shown } = view.survey()
  const machines = focused === null ? shown : withFocused(shown, focused)
  const groups = groupsOf(machines, grouping, sort)
  return { question, groups: view.view() === 'tiles' ? [...groups, ...hostsFor(filters)] : groups }
}

function withFocused(shown: readonly Machine[], focused: string): readonly Machine[] {
  if (shown.some(({ uuid }) => uuid === focused)) return shown
  const all = new Set(shown)
  return fleet.machines().filter(machine => machine.uuid === focused || all.has(machine))
}

/** Hosts have names only: other filters leave them out. */
function hostsFor(filters: Filters) {
  const { q, ...others } = filters
  if (Object.values(others).some(text => text !== '')) return []
  const small = q.toLowerCase()
  return hostGroups(fleet.hosts().filter(({ name }) => name.toLowerCase().includes(small)))
}
