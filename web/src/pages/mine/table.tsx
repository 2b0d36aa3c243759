// All that one has, by its end, on one axis. Rows stay where they are under the pointer, and only those in view are made.
import { type Component, createMemo, createSignal, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { minute, zone } from '../../data/clock.ts'
import { useKeys } from '../../data/keys.ts'
import { createSteady } from '../../parts/steady.ts'
import { actionOf, actionsOf } from '../../parts/verbs/actions.ts'
import { createWindow } from '../../parts/window.ts'
import { words } from '../../words.ts'
import { axisOf, type Group, type GroupName, groupsOf, placeOn } from './groups.ts'
import { Row } from './row.tsx'

type Line = { kind: 'group'; group: Group } | { kind: 'machine'; machine: Machine; group: GroupName }

const keyOf = (line: Line) => (line.kind === 'group' ? line.group.name : `${line.machine.uuid} ${line.machine.id}`)

const narrow = matchMedia('(max-width: 640px)')
const [isNarrow, setIsNarrow] = createSignal(narrow.matches)
narrow.addEventListener('change', () => setIsNarrow(narrow.matches))

/** As the style sheet has them, in rem: of a row, and of a group's head. */
const heights = () => (isNarrow() ? { machine: 3.625, group: 2.25 } : { machine: 1.875, group: 2 })

export const Table: Component<{ machines: readonly Machine[] }> = props => {
  let body!: HTMLTableSectionElement
  const [selected, setSelected] = createSignal<ReadonlySet<string>>(new Set())
  const lines = createMemo((): Line[] =>
    groupsOf(props.machines, { now: minute(), zone: zone() }).flatMap(group => [
      { kind: 'group' as const, group },
      ...group.machines.map(machine => ({ kind: 'machine' as const, machine, group: group.name })),
    ]),
  )
  const { steady, hold } = createSteady(lines, keyOf)
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const window = createWindow({
    heights: () => steady().keys.map(key => heights()[steady().rows.get(key)!.kind] * rem),
    element: () => body,
  })
  const inView = createMemo(() => steady().keys.slice(window().from, window().to))
  const chosen = createMemo(() => props.machines.filter(({ uuid }) => selected().has(uuid)))
  const toggle = (uuids: readonly string[], isOn: boolean) =>
    setSelected(before => {
      const next = new Set(before)
      for (const uuid of uuids) {
        if (isOn) next.add(uuid)
        else next.delete(uuid)
      }
      return next
    })
  const all = () => props.machines.map(({ uuid }) => uuid)
  useTableKeys({
    body: () => body,
    machines: () => props.machines,
    chosen,
    toggle,
    isChosen: uuid => selected().has(uuid),
  })
  return (
    <div class="tw card" {...hold}>
      <Show when={steady().pending > 0}>
        <p class="pill-wait" role="status">
          {words.mine.pending(steady().pending)}
        </p>
      </Show>
      <Show when={chosen().length > 0}>
        <Selection machines={chosen()} drop={() => setSelected(new Set<string>())} />
      </Show>
      <table aria-label={words.mine.table} aria-rowcount={steady().keys.length + 1}>
        <Columns />
        <thead>
          <tr>
            <th class="ck">
              <input
                type="checkbox"
                aria-label={words.mine.selectAll}
                checked={chosen().length > 0 && chosen().length === props.machines.length}
                ref={box => queueMicrotask(() => (box.indeterminate = false))}
                onChange={({ target }) => toggle(all(), target.checked)}
              />
            </th>
            <th>{words.mine.columns.what}</th>
            <th>{words.mine.columns.machine}</th>
            <th class="cl">{words.mine.columns.class}</th>
            <th class="tl">
              <AxisDays />
            </th>
            <th>{words.mine.columns.left}</th>
            <th>
              <span class="vh">{words.mine.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          <Space height={window().before} />
          <For each={inView()}>
            {(key, place) => {
              const line = () => steady().rows.get(key)!
              return (
                <LineOf
                  line={line()}
                  index={window().from + place() + 2}
                  isGone={steady().gone.has(key)}
                  isSelected={uuid => selected().has(uuid)}
                  toggle={toggle}
                />
              )
            }}
          </For>
          <Space height={Math.max(0, window().height - window().before - heightOf(inView(), steady().rows, rem))} />
        </tbody>
      </table>
    </div>
  )
}

const heightOf = (keys: readonly string[], rows: ReadonlyMap<string, Line>, rem: number) =>
  keys.reduce((sum, key) => sum + heights()[rows.get(key)!.kind] * rem, 0)

const Space: Component<{ height: number }> = props => (
  <Show when={props.height > 0}>
    <tr class="space" aria-hidden="true" style={{ height: `${props.height}px` }}>
      <td colspan="7" />
    </tr>
  </Show>
)

const Columns: Component = () => (
  <colgroup>
    <col class="c-ck" />
    <col class="c-what" />
    <col class="c-machine" />
    <col class="c-class" />
    <col class="c-axis" />
    <col class="c-left" />
    <col class="c-acts" />
  </colgroup>
)

const AxisDays: Component = () => {
  const axis = createMemo(() => axisOf({ now: minute(), zone: zone() }))
  return (
    <span class="ax" aria-hidden="true">
      <For each={axis().days}>{({ at, day }) => <span style={{ left: `${placeOn(axis(), at)}%` }}>{day}</span>}</For>
    </span>
  )
}

interface LineProps {
  line: Line
  index: number
  isGone: boolean
  isSelected: (uuid: string) => boolean
  toggle: (uuids: readonly string[], isOn: boolean) => void
}

const LineOf: Component<LineProps> = props => (
  <Show
    when={props.line.kind === 'machine' ? props.line.machine : null}
    fallback={props.line.kind === 'group' ? <GroupHead group={props.line.group} index={props.index} /> : null}
  >
    {machine => (
      <Row
        machine={machine()}
        index={props.index}
        isGone={props.isGone}
        isSelected={props.isSelected(machine().uuid)}
        toggle={isOn => props.toggle([machine().uuid], isOn)}
      />
    )}
  </Show>
)

const GroupHead: Component<{ group: Group; index: number }> = props => {
  const extend = () => actionOf('extend', props.group.machines)
  return (
    <tr class="gr" aria-rowindex={props.index}>
      <th colspan="5" scope="rowgroup">
        <b>{words.mine.groups[props.group.name]}</b> <span class="dimmer">{props.group.machines.length}</span>
      </th>
      <th colspan="2" class="right">
        <Show when={extend()}>
          {action => (
            <Show when={props.group.name === 'soon' && action().can > 1}>
              <button
                type="button"
                class="btn small"
                disabled={action().whyNot !== null}
                onClick={() => action().act()}
              >
                {words.mine.extendAll(action().can)}
              </button>
            </Show>
          )}
        </Show>
      </th>
    </tr>
  )
}

/** What is done with many. */
const BULK = new Set(['extend', 'release', 'purpose', 'power on', 'power off', 'undeploy'])

const Selection: Component<{ machines: readonly Machine[]; drop: () => void }> = props => (
  <div class="sel" role="toolbar" aria-label={words.mine.selection}>
    <b>{words.mine.selected(props.machines.length)}</b>
    <For each={actionsOf(props.machines).filter(({ verb }) => BULK.has(verb))}>
      {action => (
        <button
          type="button"
          classList={{ btn: true, small: true, danger: action.isDangerous }}
          disabled={action.whyNot !== null}
          onClick={() => action.act()}
        >
          {words.mine.onSome(action.text, action.can, props.machines.length)}
        </button>
      )}
    </For>
    <span class="grow" />
    <button type="button" class="btn small quiet" onClick={() => props.drop()}>
      {words.mine.unselect}
    </button>
  </div>
)

interface TableKeys {
  body: () => HTMLElement
  machines: () => readonly Machine[]
  chosen: () => readonly Machine[]
  toggle: (uuids: readonly string[], isOn: boolean) => void
  isChosen: (uuid: string) => boolean
}

/** J and K move from row to row, X selects, E extends, also many. */
function useTableKeys({ body, machines, chosen, toggle, isChosen }: TableKeys): void {
  const links = () => [...body().querySelectorAll<HTMLElement>('a[data-uuid]')]
  const row = () => document.activeElement?.closest('tr')?.querySelector<HTMLElement>('a[data-uuid]') ?? null
  const focused = () => machines().find(({ uuid }) => uuid === row()?.dataset['uuid'])
  const move = (by: number) => {
    const all = links()
    const at = row() === null ? (by > 0 ? -1 : all.length) : all.indexOf(row()!)
    const to = all[Math.max(0, Math.min(all.length - 1, at + by))]
    to?.focus()
    to?.scrollIntoView({ block: 'nearest' })
  }
  const act = (verb: string) => {
    const one = focused()
    const about = chosen().length > 0 ? chosen() : one ? [one] : []
    const action = actionOf(verb, about)
    if (action && action.whyNot === null) action.act()
  }
  const { keys } = words.mine
  useKeys(keys.title, [
    { keys: 'j', words: keys.next, act: () => move(1) },
    { keys: 'k', words: keys.previous, act: () => move(-1) },
    {
      keys: 'x',
      words: keys.select,
      act: () => {
        const one = focused()
        if (one) toggle([one.uuid], !isChosen(one.uuid))
      },
    },
    { keys: 'e', words: keys.extend, act: () => act('extend') },
    { keys: 'r', words: keys.release, act: () => act('release') },
  ])
}
