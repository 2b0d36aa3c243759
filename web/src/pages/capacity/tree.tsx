// The trees of providers: a treegrid of which only the rows in view are drawn.
import { type Component, createEffect, createMemo, createSignal, For, onCleanup, onMount, Show } from 'solid-js'
import { when } from '../../data/clock.ts'
import { type Branch, isOfLease } from '../../data/capacity-tree.ts'
import { Icon } from '../../parts/icon.tsx'
import { traitShown } from '../../parts/trait.ts'
import { createWindow } from '../../parts/window.ts'
import { words } from '../../words.ts'
import { type Column, usesIn } from './columns.ts'
import { UseOf } from './use.tsx'

const PAGE = words.capacity
const TAGS_MAX = 3

interface TreeProps {
  rows: readonly Branch[]
  columns: readonly Column[]
  isOpen: (uuid: string) => boolean
  setOpen: (uuid: string, isOpen: boolean) => void
  /** The traits that every tree has: they tell nothing. */
  usual: ReadonlySet<string>
  /** What is said of some roots: that they fit, or would. */
  marks: ReadonlyMap<string, string>
}

/** The height of a row in pixels, as the style says it. */
export function createRowHeight(): () => number {
  const read = () => {
    const style = getComputedStyle(document.documentElement)
    return Number.parseFloat(style.getPropertyValue('--row-h')) * (Number.parseFloat(style.fontSize) || 16) || 30
  }
  const [height, setHeight] = createSignal(read())
  const look = () => setHeight(read())
  onMount(() => addEventListener('resize', look))
  onCleanup(() => removeEventListener('resize', look))
  return height
}

export const Tree: Component<TreeProps> = props => {
  let body!: HTMLDivElement
  const rowHeight = createRowHeight()
  const view = createWindow({
    heights: () => ({ each: rowHeight(), count: props.rows.length }),
    element: () => body,
  })
  /** The row that Tab comes to. */
  const [current, setCurrent] = createSignal<string | null>(null)
  const currentAt = createMemo(() => {
    const at = props.rows.findIndex(({ provider }) => provider.uuid === current())
    return at < 0 ? 0 : at
  })
  const shown = createMemo(() => {
    const { from, to } = view()
    const places = Array.from({ length: to - from }, (_, at) => from + at)
    // The one with the focus is always there.
    if (props.rows.length > 0 && !places.includes(currentAt())) places.push(currentAt())
    return places
  })
  const go = (at: number) => {
    const row = props.rows[Math.max(0, Math.min(props.rows.length - 1, at))]
    if (!row) return
    setCurrent(row.provider.uuid)
    queueMicrotask(() => {
      const element = body.querySelector<HTMLElement>(`[data-uuid="${CSS.escape(row.provider.uuid)}"]`)
      element?.focus()
      element?.scrollIntoView({ block: 'nearest' })
    })
  }
  const onKey = (event: KeyboardEvent) => {
    const at = currentAt()
    const row = props.rows[at]
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const acts: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(props.rows.length - 1),
      ArrowRight: () => openOrEnter(row, at),
      ArrowLeft: () => closeOrLeave(row, at),
      Enter: () => toggle(row),
      ' ': () => toggle(row),
    }
    const act = acts[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  const isOpen = ({ provider }: Branch) => props.isOpen(provider.uuid)
  const toggle = (row: Branch) => {
    if (row.children.length > 0) props.setOpen(row.provider.uuid, !isOpen(row))
  }
  const openOrEnter = (row: Branch, at: number) => {
    if (row.children.length === 0) return
    if (isOpen(row)) go(at + 1)
    else props.setOpen(row.provider.uuid, true)
  }
  const closeOrLeave = (row: Branch, at: number) => {
    if (row.children.length > 0 && isOpen(row)) return props.setOpen(row.provider.uuid, false)
    const parent = props.rows.findLastIndex((other, place) => place < at && other.depth < row.depth)
    if (parent >= 0) go(parent)
  }
  createEffect(() => {
    if (current() !== null && !props.rows.some(({ provider }) => provider.uuid === current())) setCurrent(null)
  })
  return (
    <div
      class="tg"
      role="treegrid"
      aria-label={PAGE.providers}
      aria-rowcount={props.rows.length + 1}
      onKeyDown={onKey}
      style={{ '--columns': columnsShown(props.columns) }}
    >
      <div class="tr head" role="row" aria-rowindex={1}>
        <span role="columnheader">{PAGE.provider}</span>
        <For each={props.columns}>{({ title }) => <span role="columnheader">{title}</span>}</For>
      </div>
      <div class="tb" role="rowgroup" ref={body} style={{ height: `${view().height}px` }}>
        <For each={shown()}>
          {at => (
            <Show when={props.rows[at]}>
              {row => (
                <Row
                  {...props}
                  row={row()}
                  at={at}
                  top={at * rowHeight()}
                  isCurrent={at === currentAt()}
                  pick={() => setCurrent(row().provider.uuid)}
                  toggle={() => toggle(row())}
                />
              )}
            </Show>
          )}
        </For>
      </div>
    </div>
  )
}

const columnsShown = (columns: readonly Column[]) =>
  `minmax(14rem, 1fr) ${columns.map(({ width }) => `${width}rem`).join(' ')}`

interface RowProps extends TreeProps {
  row: Branch
  at: number
  top: number
  isCurrent: boolean
  pick: () => void
  toggle: () => void
}

const Row: Component<RowProps> = props => {
  const uuid = () => props.row.provider.uuid
  const hasChildren = () => props.row.children.length > 0
  const mark = () => (props.row.depth === 0 ? props.marks.get(uuid()) : undefined)
  return (
    <div
      classList={{ tr: true, deep: props.row.depth > 0, hit: mark() !== undefined }}
      role="row"
      data-uuid={uuid()}
      aria-level={props.row.depth + 1}
      aria-rowindex={props.at + 2}
      aria-expanded={hasChildren() ? props.isOpen(uuid()) : undefined}
      tabindex={props.isCurrent ? 0 : -1}
      style={{ top: `${props.top}px` }}
      onFocus={() => props.pick()}
      onClick={() => {
        props.pick()
        props.toggle()
      }}
    >
      <span role="gridcell" class="nm" style={{ 'padding-left': `${0.875 + props.row.depth * 1.125}rem` }}>
        <span class="tw" aria-hidden="true">
          <Show when={hasChildren()}>
            <Icon name={props.isOpen(uuid()) ? 'down' : 'right'} />
          </Show>
        </span>
        <b classList={{ med: props.row.depth === 0 }} title={props.row.provider.uuid}>
          {props.row.name}
        </b>
        <Tags row={props.row} mark={mark()} usual={props.usual} />
      </span>
      <For each={props.columns}>
        {column => (
          <span role="gridcell" class="us">
            <For each={usesIn(column, props.row.sums).slice(0, 1)}>
              {([resource, use]) => <UseOf resource={resource} use={use} isNamed={column.isMixed} />}
            </For>
            <Show when={usesIn(column, props.row.sums).length > 1}>
              <span
                class="tag"
                title={usesIn(column, props.row.sums)
                  .map(([name, [used, capacity]]) => `${name} ${used} / ${capacity}`)
                  .join(', ')}
              >
                {PAGE.more(usesIn(column, props.row.sums).length - 1)}
              </span>
            </Show>
          </span>
        )}
      </For>
    </div>
  )
}

const Tags: Component<{ row: Branch; mark: string | undefined; usual: ReadonlySet<string> }> = props => {
  const traits = createMemo(() =>
    [...(props.row.depth === 0 ? props.row.traits : props.row.provider.traits)]
      .filter(trait => trait.startsWith('CUSTOM_') && !props.usual.has(trait))
      .map(traitShown),
  )
  const lease = () => props.row.provider.lease
  const slots = () => [...props.row.sums].flatMap(([name, use]) => (isOfLease(name) ? [use] : []))
  return (
    <span class="tags cut">
      <Show when={props.mark}>{mark => <em class="tag good">{mark()}</em>}</Show>
      <Show when={lease()}>
        {found => <em class="tag">{PAGE.leaseHas(found().name ?? PAGE.someLease, when(found().end))}</em>}
      </Show>
      <For each={slots()}>{([used, capacity]) => <em class="tag">{PAGE.slots(used, capacity)}</em>}</For>
      <For each={traits().slice(0, TAGS_MAX)}>{trait => <em class="tag">{trait}</em>}</For>
      <Show when={traits().length > TAGS_MAX}>
        <em class="tag" title={traits().join(', ')}>
          {PAGE.more(traits().length - TAGS_MAX)}
        </em>
      </Show>
    </span>
  )
}
