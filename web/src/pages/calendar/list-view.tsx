// The calendar as a table, with the same actions. What is printed has all of it.
import { A } from '@solidjs/router'
import { type Component, createMemo, createSignal, For, Show, untrack } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { minute } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { Icon } from '../../parts/icon.tsx'
import { StateWord } from '../../parts/glyph.tsx'
import { When } from '../../parts/time.tsx'
import type { Scale } from '../../parts/timeline/scale.ts'
import { createWindow } from '../../parts/window.ts'
import { words } from '../../words.ts'
import type { BarShown } from './chart.tsx'
import { createHeld } from './held.ts'
import {
  type Column,
  COLUMNS,
  isPromise,
  itemsOf,
  type ListItem,
  sameItems,
  type Sort,
  sorted,
  stateOf,
  whatOf,
} from './list.ts'

interface ListProps {
  machines: readonly Machine[]
  scale: Scale
  label: string
  /** All rows are in the page, to be printed. */
  isWhole: boolean
  open: (shown: BarShown) => void
  /** What else was asked for: when it is another, rows are too. */
  question: unknown
}

/** How many changes wait while the rows are held, and the way to see them. */
export const Waits: Component<{ count: number; refresh: () => void }> = props => (
  <Show when={props.count > 0}>
    <button type="button" class="btn small waits" onClick={() => props.refresh()}>
      {words.calendar.waits(props.count)}
    </button>
  </Show>
)

/** More than this is not for paper. */
const PRINTED_MAX = 2_000

export const ListView: Component<ListProps> = props => {
  let body!: HTMLTableSectionElement
  const [sort, setSort] = createSignal<Sort>({ by: 'machine', isDown: false })
  const items = createMemo(() => {
    const window = { from: props.scale.from, to: props.scale.to }
    const [machines, now] = [props.machines, minute()]
    fleet.version()
    return untrack(() => itemsOf({ machines, spansOf: uuid => fleet.spans(uuid), window, now }))
  })
  const held = createHeld({
    rows: () => sorted(items(), sort()),
    same: sameItems,
    question: () => [props.scale, props.question, sort()],
  })
  const inOrder = held.rows
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
  const each = (parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row-h')) || 1.875) * rem
  const inView = createWindow({ heights: () => ({ each, count: inOrder().length }), element: () => body })
  const range = () => (props.isWhole ? { from: 0, to: PRINTED_MAX } : inView())
  const shown = createMemo(() => inOrder().slice(range().from, range().to))
  const after = () => Math.max(0, inOrder().length - range().to)
  const sortBy = (by: Column) => setSort(({ by: before, isDown }) => ({ by, isDown: before === by && !isDown }))
  return (
    <div class="list">
      <table aria-label={props.label} aria-rowcount={inOrder().length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <For each={COLUMNS}>
              {column => (
                <th
                  aria-sort={sort().by === column ? (sort().isDown ? 'descending' : 'ascending') : undefined}
                  class={`c-${column}`}
                >
                  <button type="button" onClick={() => sortBy(column)}>
                    {words.calendar.columns[column]}
                    <Show when={sort().by === column}>
                      <span aria-hidden="true">{sort().isDown ? ' ↓' : ' ↑'}</span>
                    </Show>
                  </button>
                </th>
              )}
            </For>
            <th class="c-do">
              <span class="vh">{words.calendar.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody
          ref={body}
          onPointerEnter={event => event.pointerType === 'mouse' && held.hold(true)}
          onPointerLeave={event =>
            event.pointerType === 'mouse' && !body.contains(document.activeElement) && held.hold(false)
          }
          onFocusIn={() => held.hold(true)}
          onFocusOut={event => !body.contains(event.relatedTarget as Node | null) && held.hold(false)}
        >
          <Show when={range().from > 0}>
            <tr aria-hidden="true" class="gap" style={{ height: `${range().from * each}px` }} />
          </Show>
          <For each={shown()}>
            {(item, place) => <ListRow item={item} index={range().from + place() + 2} open={props.open} />}
          </For>
          <Show when={after() > 0 && !props.isWhole}>
            <tr aria-hidden="true" class="gap" style={{ height: `${after() * each}px` }} />
          </Show>
        </tbody>
      </table>
      <Waits count={held.waiting()} refresh={held.refresh} />
      <Show when={inOrder().length === 0}>
        <p class="dim none">{words.calendar.nothingThen}</p>
      </Show>
    </div>
  )
}

const ListRow: Component<{ item: ListItem; index: number; open: (shown: BarShown) => void }> = props => {
  const bar = () => props.item.bar
  const isTimed = () => bar().spans.some(({ start }) => start !== null)
  return (
    <tr aria-rowindex={props.index}>
      <td class="c-machine">
        <A class="mono" href={`/machine/${encodeURIComponent(props.item.name)}`}>
          {props.item.name}
        </A>
      </td>
      <td class="c-what cut">{whatOf(bar())}</td>
      <td class="c-who cut">{isPromise(bar()) ? (bar().by ?? words.someone) : ''}</td>
      <td class="c-from">
        <Show when={isTimed()} fallback={<span class="dimmer">{words.calendar.unknownStart}</span>}>
          <When at={bar().from} />
        </Show>
      </td>
      <td class="c-to">
        <Show when={bar().to} fallback={<span class="dimmer">{words.timeline.noEnd}</span>}>
          {to => <When at={to()} />}
        </Show>
      </td>
      <td class="c-state">
        <StateWord state={stateOf(bar().look)} />
      </td>
      <td class="c-do right">
        <button
          type="button"
          class="icon"
          aria-haspopup="dialog"
          aria-label={words.calendar.actionsOn(bar().title, props.item.name)}
          onClick={event => props.open({ machine: props.item.machine, bar: bar(), anchor: event.currentTarget })}
        >
          <Icon name="more" />
        </button>
      </td>
    </tr>
  )
}
