// The fleet as a table: sorted, folded, selected. Only the lines in view are drawn.
import './table.css'
import {
  type Accessor,
  type Component,
  createEffect,
  createMemo,
  createSelector,
  createSignal,
  For,
  Show,
} from 'solid-js'
import { fleet } from '../../data/fleet.ts'
import { useKeys } from '../../data/keys.ts'
import { createWindow } from '../../parts/window.ts'
import { words } from '../../words.ts'
import { Bulk } from './bulk.tsx'
import { flash } from './flash.ts'
import { groupKeyOf, type Sort, type SortColumn, SORTS } from './groups.ts'
import { groupOfLine, isGroup, lineAfter, linesOf, subjectOf } from './lines.ts'
import { createSelection, type Selection } from './selection.ts'
import { factsBy } from './survey.ts'
import { GroupRow, MachineRow, Mark } from './table-row.tsx'
import type { Frozen, NowView } from './view.ts'

interface TableProps {
  view: NowView
  frozen: Frozen
  rowPx: number
  /** Of the window: narrow ones have fewer columns. */
  width: number
  setCurrent: (id: string | null) => void
}

/** As in the style sheet. */
const columnsIn = (width: number) => SORTS.length + 1 - (width <= 1240 ? 2 : 0) - (width <= 900 ? 2 : 0)

const STEPS = new Set(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End'])

export const Table: Component<TableProps> = props => {
  const [body, setBody] = createSignal<HTMLElement>()
  const [folded, setFolded] = createSignal<ReadonlySet<string>>(new Set())
  const [at, setAt] = createSignal<string | null>(null)
  const layout = () => props.frozen.layout()
  const hasHeads = () => props.view.grouping() !== 'none'
  const lines = createMemo(() => linesOf(layout(), folded(), hasHeads()))
  const window = createWindow({ heights: () => ({ each: props.rowPx, count: lines().length }), element: body })
  const drawn = createMemo(() => lines().slice(window().from, window().to))
  const selection = createSelection(layout)
  const facts = createMemo(() => factsBy(props.view.survey().shown, groupKeyOf(props.view.grouping())))
  const places = createMemo(() => new Map(drawn().map((line, place) => [line, window().from + place])))
  const isTabbable = createSelector(createMemo(() => (places().has(at() ?? '') ? at() : drawn()[0])))
  createEffect(() => {
    const table = body()?.closest('table')
    if (table) flash(table, fleet.flashes())
  })

  const fold = (key: string) =>
    setFolded(before => {
      const after = new Set(before)
      if (!after.delete(key)) after.add(key)
      return after
    })
  const goTo = (line: string | undefined) => {
    if (line === undefined) return
    setAt(line)
    const place = lines().indexOf(line)
    if (!places().has(line)) {
      const top = (body()?.getBoundingClientRect().top ?? 0) + scrollY + place * props.rowPx
      scrollTo({ top: top - innerHeight / 2 })
    }
    requestAnimationFrame(() => rowAt(body(), line)?.focus())
  }
  const select = (line: string) => {
    if (!isGroup(line)) selection.toggle(subjectOf(line))
    else selection.toggleAll(groupOfLine(layout().groups, line)?.ids ?? [])
  }
  const move = (key: string) => goTo(lineAfter(lines(), at(), key, Math.floor(innerHeight / props.rowPx / 2)))
  useKeys(words.now.title, [
    { keys: 'j', words: words.now.keys.next, act: () => move('ArrowDown') },
    { keys: 'k', words: words.now.keys.previous, act: () => move('ArrowUp') },
    { keys: 'x', words: words.now.keys.select, act: () => at() !== null && select(at()!) },
    { keys: 'Escape', words: words.now.keys.clear, act: () => selection.clear() },
  ])

  const onKey = (event: KeyboardEvent) => {
    const line = lineOf(event.target)
    if (line === null || event.ctrlKey || event.metaKey || event.altKey) return
    const isOnRow = event.target instanceof HTMLTableRowElement
    if (STEPS.has(event.key)) {
      if (event.shiftKey && !isGroup(line) && !selection.has(subjectOf(line))) selection.toggle(subjectOf(line))
      move(event.key)
      if (event.shiftKey && at() !== null && !isGroup(at()!)) selection.reach(subjectOf(at()!))
    } else if (event.key === ' ' && isOnRow) select(line)
    else if (event.key === 'Enter' && isOnRow) enter(event.target, line, fold)
    else if (!stepInRow(event, line, folded(), fold)) return
    event.preventDefault()
  }
  return (
    <>
      <div class="tw">
        <table
          role="treegrid"
          aria-label={words.now.table}
          aria-rowcount={lines().length + 1}
          aria-multiselectable="true"
          onKeyDown={onKey}
          onFocusIn={({ target }) => {
            const line = lineOf(target)
            if (line === null) return
            setAt(line)
            props.setCurrent(isGroup(line) ? null : subjectOf(line))
          }}
        >
          <Head view={props.view} selection={selection} all={() => layout().groups.flatMap(({ ids }) => ids)} />
          <tbody aria-hidden="true">
            <tr class="pad" style={{ height: `${window().before}px` }} />
          </tbody>
          <tbody ref={element => setBodyTop(element, setBody)}>
            <For each={drawn()}>
              {line => {
                const common = () => ({
                  line,
                  place: (places().get(line) ?? 0) + 2,
                  isTabbable: isTabbable(line),
                  selection,
                })
                return (
                  <Show
                    when={isGroup(line)}
                    fallback={<MachineRow id={subjectOf(line)} level={hasHeads() ? 2 : 1} {...common()} />}
                  >
                    <GroupRow
                      group={() => groupOfLine(layout().groups, line)}
                      by={props.view.grouping()}
                      columns={columnsIn(props.width)}
                      facts={facts().get(subjectOf(line))}
                      isFolded={folded().has(subjectOf(line))}
                      fold={() => fold(subjectOf(line))}
                      {...common()}
                    />
                  </Show>
                )
              }}
            </For>
          </tbody>
          <tbody aria-hidden="true">
            <tr class="pad" style={{ height: `${restOf(window(), drawn().length, props.rowPx)}px` }} />
          </tbody>
        </table>
      </div>
      <Bulk selection={selection} />
    </>
  )
}

/** The window is measured from the first line, which is where the lines before it would begin. */
function setBodyTop(element: HTMLElement, set: (element: HTMLElement) => void): void {
  set(element.previousElementSibling instanceof HTMLElement ? element.previousElementSibling : element)
}

const restOf = ({ before, height }: { before: number; height: number }, count: number, rowPx: number) =>
  Math.max(0, height - before - count * rowPx)

const Head: Component<{ view: NowView; selection: Selection; all: Accessor<readonly string[]> }> = props => {
  const sort = () => props.view.sort()
  const next = (by: SortColumn): string | null => {
    const isDown = sort().by === by && !sort().isDown
    return by === 'machine' && !isDown ? null : `${isDown ? '-' : ''}${by}`
  }
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th class="ck">
          <Mark
            marked={props.selection.of(props.all())}
            label={words.now.selectAll}
            toggle={() => props.selection.toggleAll(props.all())}
          />
        </th>
        <For each={SORTS}>
          {by => (
            <th class={`c-${by}`} aria-sort={sortedAs(sort(), by)}>
              <button type="button" class="srt" onClick={() => props.view.set({ sort: next(by) })}>
                {words.now.columns[by]}
                <Show when={sort().by === by}>
                  <span aria-hidden="true">{sort().isDown ? '↓' : '↑'}</span>
                </Show>
              </button>
            </th>
          )}
        </For>
        <th class="mo">
          <span class="vh">{words.now.actions}</span>
        </th>
      </tr>
    </thead>
  )
}

const sortedAs = (sort: Sort, by: SortColumn) =>
  sort.by === by ? (sort.isDown ? 'descending' : 'ascending') : undefined

const rowOf = (target: EventTarget | null) =>
  target instanceof Element ? target.closest<HTMLElement>('tr[data-line]') : null
const lineOf = (target: EventTarget | null): string | null => rowOf(target)?.dataset['line'] ?? null
const rowAt = (body: HTMLElement | undefined, line: string) =>
  body?.closest('table')?.querySelector<HTMLElement>(`tr[data-line="${CSS.escape(line)}"]`)

function enter(row: HTMLElement, line: string, fold: (key: string) => void): void {
  if (isGroup(line)) fold(subjectOf(line))
  else row.querySelector<HTMLElement>('a')?.click()
}

/** Right and left: into the row and out of it; on the head of a group, unfolds and folds it. */
function stepInRow(
  { key, target }: KeyboardEvent,
  line: string,
  folded: ReadonlySet<string>,
  fold: (key: string) => void,
): boolean {
  const row = rowOf(target)
  if (!row || (key !== 'ArrowRight' && key !== 'ArrowLeft')) return false
  if (isGroup(line) && target === row) {
    if (folded.has(subjectOf(line)) === (key === 'ArrowRight')) fold(subjectOf(line))
    return true
  }
  const stops = [row, ...row.querySelectorAll<HTMLElement>('input, a, button')]
  const at = stops.indexOf(target as HTMLElement)
  stops[Math.max(0, Math.min(stops.length - 1, at + (key === 'ArrowRight' ? 1 : -1)))]?.focus()
  return true
}
