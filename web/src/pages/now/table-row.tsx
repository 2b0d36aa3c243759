// The lines of the table: a machine, and the head of a group.
import { type Component, createMemo, createRenderEffect, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { left, when } from '../../data/clock.ts'
import { machineHref } from '../../data/machine-href.ts'
import { fleet } from '../../data/fleet.ts'
import { Glyph, StateWord } from '../../parts/glyph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { When } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { allActions } from './all-actions.ts'
import type { Group, Grouping } from './groups.ts'
import { traitsShort, whoShown } from './said.ts'
import type { Marked, Selection } from './selection.ts'
import { type GroupFacts, STATES } from './survey.ts'

interface RowProps {
  line: string
  /** From 1, the head of the table included. */
  place: number
  isTabbable: boolean
  selection: Selection
}

/** A checkbox that may be half. */
export const Mark: Component<{
  marked: Marked
  label: string
  toggle: (event: MouseEvent) => void
  inRow?: boolean
}> = props => (
  <input
    ref={element => createRenderEffect(() => (element.indeterminate = props.marked === 'some'))}
    type="checkbox"
    class="mark"
    aria-label={props.label}
    tabindex={props.inRow ? -1 : 0}
    checked={props.marked === 'all'}
    onClick={event => props.toggle(event)}
  />
)

export const MachineRow: Component<RowProps & { id: string; level: number }> = props => {
  const machine = () => fleet.machine(props.id)
  const isSelected = () => props.selection.has(props.id)
  const mark = (event: MouseEvent) =>
    event.shiftKey ? props.selection.reach(props.id) : props.selection.toggle(props.id)
  return (
    <tr
      data-line={props.line}
      data-id={props.id}
      classList={{ sel: isSelected() }}
      aria-rowindex={props.place}
      aria-level={props.level}
      aria-selected={isSelected()}
      tabindex={props.isTabbable ? 0 : -1}
    >
      <Show when={machine()} fallback={<td colspan={10}>{words.now.gone}</td>}>
        {found => (
          <>
            <td class="ck">
              <Mark
                inRow
                marked={isSelected() ? 'all' : 'none'}
                label={words.now.select(found().name ?? props.id)}
                toggle={mark}
              />
            </td>
            <Cells machine={found()} />
            <td class="mo">
              <Menu
                tabindex={-1}
                label={words.now.actionsOn(found().name ?? props.id)}
                face={<Icon name="more" />}
                items={allActions([found()])}
              />
            </td>
          </>
        )}
      </Show>
    </tr>
  )
}

const Cells: Component<{ machine: Machine }> = props => {
  const traits = createMemo(() => traitsShort(props.machine, fleet.traitsOf(props.machine)))
  const note = () => props.machine.error ?? props.machine.reason ?? props.machine.note ?? props.machine.purpose
  const detail = () => (props.machine.state === 'broken' ? props.machine.provision : null)
  return (
    <>
      <td class="c-machine cut">
        <a class="mono" href={machineHref(props.machine)} tabindex="-1">
          {props.machine.name ?? props.machine.uuid}
        </a>
      </td>
      <td class="c-state cut">
        <StateWord state={props.machine.state} verb={props.machine.verb} />
        <Show when={props.machine.maintenance && props.machine.state !== 'maintenance'}>
          <span class="upkeep" title={words.states.maintenance.word}>
            <Glyph state="maintenance" />
            <span class="vh">{words.states.maintenance.word}</span>
          </span>
        </Show>
        <span class="dimmer"> {detail()}</span>
      </td>
      <td class="c-who cut">
        <Show when={props.machine.kind !== null}>
          <span classList={{ you: props.machine.mine }}>{whoShown(props.machine)}</span>
          <span class="dimmer"> {props.machine.who === null ? null : props.machine.project}</span>
        </Show>
      </td>
      <td class="c-for cut">
        <Show when={props.machine.kind === 'lease'}>
          <Icon name="calendar" />
        </Show>
        {props.machine.what}
      </td>
      <td class="c-until cut">
        <Until machine={props.machine} />
      </td>
      <td class="c-next cut">
        <Show when={props.machine.next}>
          {next => (
            <>
              <span class="st-booked">{next().name ?? words.someone}</span>{' '}
              <span class="dimmer">
                {next().who} {when(next().start)}
              </span>
            </>
          )}
        </Show>
      </td>
      <td class="c-traits cut" title={traits()}>
        {traits()}
      </td>
      <td class="c-note cut" classList={{ bad: props.machine.error !== null }} title={note() ?? undefined}>
        {note()}
      </td>
    </>
  )
}

const Until: Component<{ machine: Machine }> = props => (
  <Show
    when={props.machine.kind !== null}
    fallback={
      <Show when={props.machine.state === 'booked' && props.machine.next}>
        {next => (
          <>
            <span class="dimmer">{words.now.freeUntilLabel}</span> <When at={next().start} />
          </>
        )}
      </Show>
    }
  >
    <Show when={props.machine.until} fallback={<span class="dimmer">{words.now.noEnd}</span>}>
      {until => (
        <>
          <b>
            <When at={until()} />
          </b>
          <span class="dimmer">{left(until())}</span>
        </>
      )}
    </Show>
  </Show>
)

interface GroupRowProps extends RowProps {
  group: () => Group | undefined
  by: Grouping
  columns: number
  facts: GroupFacts | undefined
  isFolded: boolean
  fold: () => void
}

export const GroupRow: Component<GroupRowProps> = props => {
  const group = createMemo((before: Group | undefined): Group => props.group() ?? before!)
  const name = () => group().name ?? words.now.noneOf[props.by]
  const detail = () => (props.by === 'rack' ? props.facts?.class : null)
  const states = () => STATES.filter(state => props.facts?.states.has(state))
  return (
    <tr
      class="gh"
      data-line={props.line}
      aria-rowindex={props.place}
      aria-level={1}
      aria-expanded={!props.isFolded}
      tabindex={props.isTabbable ? 0 : -1}
    >
      <td class="ck">
        <Mark
          inRow
          marked={props.selection.of(group().ids)}
          label={words.now.select(name())}
          toggle={() => props.selection.toggleAll(group().ids)}
        />
      </td>
      <td colspan={props.columns}>
        <button type="button" class="fold" tabindex="-1" onClick={() => props.fold()}>
          <Icon name={props.isFolded ? 'right' : 'down'} />
          <b>{name()}</b>
          <span>{detail()}</span>
          <For each={states()}>
            {state => (
              <em title={words.states[state as keyof typeof words.states].word}>
                <Glyph state={state} />
                {props.facts?.states.get(state)}
                <span class="vh"> {words.states[state as keyof typeof words.states].word}</span>
              </em>
            )}
          </For>
        </button>
      </td>
    </tr>
  )
}
