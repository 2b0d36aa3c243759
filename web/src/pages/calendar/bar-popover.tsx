// What a bar stands for: who, what, from when to when, and what the viewer may do with it.
import { A } from '@solidjs/router'
import { type Component, createEffect, createMemo, createSignal, For, Show } from 'solid-js'
import type { Machine, Span } from '../../../../src/client/status.ts'
import { minute } from '../../data/clock.ts'
import { carryOut } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { StateWord } from '../../parts/glyph.tsx'
import { Popover } from '../../parts/popover.tsx'
import { Question } from '../../parts/sheet.tsx'
import { Left, When } from '../../parts/time.tsx'
import { barsOf } from '../../parts/timeline/bars.ts'
import { actionOf } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'
import type { BarShown } from './chart.tsx'
import { stateOf } from './list.ts'

interface BarPopoverProps {
  shown: BarShown
  close: () => void
  /** Composes a move of a booking; null while that isn't offered. */
  move: ((span: Span, machine: string) => void) | null
  cancel: (span: Span) => void
}

export const BarPopover: Component<BarPopoverProps> = props => {
  const machine = () => fleet.machine(props.shown.machine)
  /** As it is now: it may have changed, or be over. */
  const bar = createMemo(() => {
    const { bar: before } = props.shown
    const id = before.spans[0]?.id ?? null
    if (before.look === 'many') return before
    return barsOf(machine(), fleet.spans(props.shown.machine), minute()).find(
      one => one.key === before.key || (id !== null && one.spans[0]?.id === id),
    )
  })
  createEffect(() => {
    if (!bar() && machine()) props.close()
  })
  const name = () => machine()?.name ?? props.shown.machine
  return (
    <Popover
      anchor={props.shown.anchor}
      label={words.calendar.about(props.shown.bar.title, name())}
      close={props.close}
      takesFocus
      class="bar-pop"
    >
      <Show when={bar() ?? props.shown.bar}>
        {shown => (
          <>
            <h2>
              <span class="cut">{shown().title}</span>
              <StateWord state={stateOf(shown().look)} />
            </h2>
            <p>
              <A class="mono u" href={`/machine/${encodeURIComponent(name())}`}>
                {name()}
              </A>{' '}
              <span class="dimmer">{machine()?.class}</span>
            </p>
            <Show
              when={shown().spans.length > 0}
              fallback={
                <p class="dim">
                  {shown().by}
                  <Show when={shown().to === null}> {words.timeline.noEnd}</Show>
                </p>
              }
            >
              <For each={shown().spans}>
                {span => (
                  <About
                    span={span}
                    machine={machine()}
                    isOne={shown().spans.length === 1}
                    move={props.move}
                    cancel={props.cancel}
                    close={props.close}
                  />
                )}
              </For>
            </Show>
          </>
        )}
      </Show>
    </Popover>
  )
}

interface AboutProps {
  span: Span
  machine: Machine | undefined
  isOne: boolean
  move: BarPopoverProps['move']
  cancel: (span: Span) => void
  close: () => void
}

const About: Component<AboutProps> = props => {
  const who = () => (props.span.mine ? words.you : (props.span.who ?? words.someone))
  const isMaintenance = () => props.span.kind === 'maintenance'
  return (
    <>
      <dl>
        <Show when={!props.isOne}>
          <dt>{words.calendar.columns.what}</dt>
          <dd>{props.span.name}</dd>
        </Show>
        <Show when={!isMaintenance()}>
          <dt>{words.calendar.columns.who}</dt>
          <dd>
            {who()} <span class="dimmer">{props.span.project}</span>
          </dd>
        </Show>
        <Show when={props.span.start}>
          {start => (
            <>
              <dt>{words.calendar.columns.from}</dt>
              <dd>
                <When at={start()} />
              </dd>
            </>
          )}
        </Show>
        <dt>{words.calendar.columns.to}</dt>
        <dd>
          <Show when={props.span.end} fallback={words.timeline.noEnd}>
            {end => (
              <>
                <When at={end()} />{' '}
                <Show when={Date.parse(props.span.start ?? '') <= minute()}>
                  <span class="dimmer">
                    <Left until={end()} /> {words.calendar.left}
                  </span>
                </Show>
              </>
            )}
          </Show>
        </dd>
        <Show when={props.machine?.id === props.span.id && props.machine?.purpose}>
          {purpose => (
            <>
              <dt>{words.calendar.purpose}</dt>
              <dd>{purpose()}</dd>
            </>
          )}
        </Show>
      </dl>
      <Deeds {...props} />
    </>
  )
}

interface Deed {
  text: string
  isDangerous: boolean
  whyNot: string | null
  act: () => void
}

const Deeds: Component<AboutProps> = props => {
  const deeds = createMemo(() => deedsOf(props))
  return (
    <Show when={deeds().length > 0}>
      <div class="tools">
        <For each={deeds()}>
          {deed => (
            <button
              type="button"
              classList={{ btn: true, small: true, danger: deed.isDangerous }}
              disabled={deed.whyNot !== null}
              title={deed.whyNot ?? undefined}
              onClick={() => {
                props.close()
                deed.act()
              }}
            >
              {deed.text}
            </button>
          )}
        </For>
      </div>
    </Show>
  )
}

/** What has the machine now is the machine's to end or extend; a booking ahead is its own. */
function deedsOf({ span, machine, move, cancel }: AboutProps): Deed[] {
  if (!machine) return []
  if (span.kind === 'maintenance') return [actionOf('end maintenance', machine) ?? []].flat()
  const whyNot = isLive() ? null : words.doing.offline
  const moves: Deed[] =
    move && span.may.includes('move') && span.id !== null
      ? [{ text: words.calendar.move, isDangerous: false, whyNot, act: () => move(span, machine.uuid) }]
      : []
  if (span.id !== null && span.id === machine.id)
    return [...moves, ...['extend', 'purpose', 'release', 'kick'].flatMap(verb => actionOf(verb, machine) ?? [])]
  const ends: Deed[] =
    span.kind === 'lease' && span.id !== null && span.may.some(verb => verb === 'release' || verb === 'kick')
      ? [{ text: words.calendar.cancel, isDangerous: true, whyNot, act: () => cancel(span) }]
      : []
  return [...moves, ...ends]
}

/** A booking that has not begun is cancelled as a whole. */
export const CancelQuestion: Component<{ span: Span; close: () => void }> = props => {
  const [machines] = createSignal(
    fleet.machines().filter(({ uuid }) => fleet.spans(uuid).some(({ id }) => id !== null && id === props.span.id)),
  )
  const name = () => props.span.name ?? ''
  const act = () =>
    carryOut({
      said: words.calendar.cancelled(name()),
      act: ({ leases }) => leases.delete(props.span.id!),
    })
  return (
    <Question
      title={words.calendar.cancelTitle(name())}
      verb={words.calendar.cancelIt}
      isDangerous
      act={act}
      close={props.close}
    >
      <p>{words.calendar.cancelMeans(machines().map(({ name: one, uuid }) => one ?? uuid))}</p>
    </Question>
  )
}
