// A machine beside its tile: who has it, for what, until when, what comes then, what it is, and what can be done.
import { type Component, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { left, utc, when } from '../../data/clock.ts'
import { machineHref } from '../../data/machine-href.ts'
import { fleet } from '../../data/fleet.ts'
import { StateWord } from '../../parts/glyph.tsx'
import { Popover } from '../../parts/popover.tsx'
import type { Action } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'
import { allActions } from './all-actions.ts'
import { makeOf, thenOf, whoShown } from './said.ts'

interface MachinePopoverProps {
  machine: Machine
  anchor: Element
  takesFocus: boolean
  close: () => void
  keep: () => void
  leave: () => void
  open: () => void
}

export const MachinePopover: Component<MachinePopoverProps> = props => {
  const name = () => props.machine.name ?? props.machine.uuid
  return (
    <Popover
      anchor={props.anchor}
      label={name()}
      close={props.close}
      takesFocus={props.takesFocus}
      class="p-now-machine"
    >
      <div onPointerEnter={() => props.keep()} onPointerLeave={() => props.leave()}>
        <div class="ph">
          <span class="mono med cut">{name()}</span>
          <StateWord state={props.machine.state} verb={props.machine.verb} />
        </div>
        <Had machine={props.machine} />
        <Facts machine={props.machine} />
        <div class="pf">
          <a class="btn small primary" href={machineHref(props.machine)}>
            {words.now.open} <kbd>↵</kbd>
          </a>
          <For each={mainActions(props.machine)}>
            {action => (
              <button
                type="button"
                class="btn small"
                classList={{ danger: action.isDangerous }}
                disabled={action.whyNot !== null}
                title={action.whyNot ?? undefined}
                onClick={() => {
                  props.close()
                  action.act()
                }}
              >
                {action.text}
              </button>
            )}
          </For>
        </div>
      </div>
    </Popover>
  )
}

/** What is wanted most; the page of the machine has all. */
const FIRST = [
  'allocate',
  'book',
  'extend',
  'release',
  'kick',
  'end maintenance',
  'abort',
  'provide',
  'manage',
  'maintenance',
]
const ACTIONS_MAX = 3

function mainActions(machine: Machine): Action[] {
  const all = allActions([machine])
  return FIRST.flatMap(verb => all.find(action => action.verb === verb) ?? []).slice(0, ACTIONS_MAX)
}

const Had: Component<{ machine: Machine }> = props => (
  <Show when={props.machine.kind !== null}>
    <p class="big">
      <b>{whoShown(props.machine)}</b>
      <Show when={props.machine.project}>{project => <span class="dim"> ({project()})</span>}</Show>
      <Show when={props.machine.what}>
        {what => (
          <>
            {' '}
            {words.now.for} <b>{what()}</b>
          </>
        )}
      </Show>
    </p>
    <Show when={props.machine.purpose}>
      <p class="dim">{props.machine.purpose}</p>
    </Show>
  </Show>
)

interface Fact {
  label: string
  /** What comes first, in bold: a time. */
  at?: string
  text: string
}

function factsOf(machine: Machine): Fact[] {
  const { until, kind, next, provision, power, reason, error, note, bookable } = machine
  const end = (label: string, at: string): Fact => ({ label, at, text: words.now.endsIn(left(at)) })
  const said = (label: string, text: string | null): Fact[] => (text === null ? [] : [{ label, text }])
  return [
    ...(until === null ? [] : [end(words.now.untilLabel, until)]),
    ...(kind !== null && until === null ? said(words.now.untilLabel, words.now.noEnd) : []),
    ...(kind === null && next !== null ? [end(words.now.freeLabel, next.start)] : []),
    ...said(words.now.after, thenOf(machine, fleet.waiting(), when)),
    ...said(words.now.error, error),
    ...said(words.now.because, reason),
    ...said(words.now.note, note),
    ...said(words.now.is, makeOf(machine, fleet.traitsOf(machine))),
    ...said(words.now.state, words.now.provisionAnd(provision, power, bookable)),
  ]
}

const Facts: Component<{ machine: Machine }> = props => (
  <dl>
    <For each={factsOf(props.machine)}>
      {({ label, at, text }) => (
        <>
          <dt>{label}</dt>
          <dd>
            <Show when={at}>{time => <b title={utc(time())}>{when(time())}</b>}</Show>
            {text}
          </dd>
        </>
      )}
    </For>
  </dl>
)
