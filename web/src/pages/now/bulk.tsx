// What can be done with all that is selected. What can't be done with some of them is said before.
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { fleet } from '../../data/fleet.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import type { Action } from '../../parts/verbs/actions.ts'
import { list, words } from '../../words.ts'
import { allActions } from './all-actions.ts'
import type { Selection } from './selection.ts'

/** Those with a button of their own, in this order; the others are in a menu. */
const FIRST = ['book', 'extend', 'make bookable', 'traits', 'maintenance', 'end maintenance', 'provide']
const NAMED_MAX = 4

export const Bulk: Component<{ selection: Selection }> = props => {
  // Thousands may be selected: they are looked at together, when the fleet has changed.
  const machines = createMemo(() => {
    const chosen = new Set(props.selection.ids())
    return chosen.size === 0 ? [] : fleet.machines().filter(({ uuid }) => chosen.has(uuid))
  })
  const actions = createMemo(() => allActions(machines()))
  const first = () => FIRST.flatMap(verb => actions().find(action => action.verb === verb) ?? [])
  const others = () => actions().filter(({ verb }) => !FIRST.includes(verb))
  const textOf = ({ text, can }: Action) => (can === machines().length ? text : words.now.someOf(text, can))
  return (
    <Show when={machines().length > 0}>
      <section class="bulk" aria-label={words.now.selected(machines().length)}>
        <p>
          <b>{words.now.selected(machines().length)}</b>{' '}
          <span class="dim">{words.now.statesOf(statesIn(machines()))}</span>
        </p>
        <Show when={fleet.me().may.includes('book') && !first().some(({ verb }) => verb === 'book')}>
          <button type="button" class="btn" disabled title={words.now.notBookable}>
            {words.now.book}
          </button>
        </Show>
        <For each={first()}>
          {action => (
            <button
              type="button"
              class="btn"
              disabled={action.whyNot !== null}
              title={action.whyNot ?? exceptions(action, machines())}
              onClick={() => action.act()}
            >
              {textOf(action)}
            </button>
          )}
        </For>
        <Show when={others().length > 0}>
          <Menu
            class="btn"
            label={words.now.moreActions}
            face={<Icon name="more" />}
            items={others().map(action => ({ ...action, text: textOf(action) }))}
          />
        </Show>
        <span class="sep" />
        <button type="button" class="btn quiet" onClick={() => props.selection.clear()}>
          {words.now.unselect} <kbd>Esc</kbd>
        </button>
      </section>
    </Show>
  )
}

/** `free 2, taken 1`, most first. */
function statesIn(machines: readonly Machine[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const { state } of machines) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}

/** The machines that it can't be done with, by name; the first few. */
function exceptions({ verb, can }: Action, machines: readonly Machine[]): string | undefined {
  if (can === machines.length) return undefined
  const found: string[] = []
  for (const machine of machines) {
    if (found.length === NAMED_MAX) break
    if (!allActions([machine]).some(action => action.verb === verb))
      found.push(`${machine.name ?? machine.uuid} (${machine.state})`)
  }
  const rest = machines.length - can - found.length
  return words.now.notWith(list(rest > 0 ? [...found, words.now.more(rest)] : found))
}
