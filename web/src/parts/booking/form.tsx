// The sentence in which a booking is composed: Book 5 × gpu-a100 with NVLINK for 2 d from Fri 09:00. Every way to compose
// one ends here: it shows what is meant, whether it fits, and books it.
import { type Component, createMemo, For, Match, Show, Switch } from 'solid-js'
import { type Draft, HOUR_MS, hasStarted, nameOf } from '../../data/booking-draft.ts'
import { serverNow } from '../../data/clock.ts'
import {
  answer,
  canWrite,
  changeDraft,
  draft,
  dropDraft,
  isAsking,
  isWriting,
  takeFirstWindow,
  wanted,
  writeDraft,
  wrong,
} from '../../data/draft.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { words } from '../../words.ts'
import { TraitsField } from '../chips.tsx'
import { CountField, SpanField, TextField, TimeField } from '../fields.tsx'
import { Glyph } from '../glyph.tsx'
import { Icon } from '../icon.tsx'
import { ClassField } from './class-field.tsx'
import './booking.css'

interface FormProps {
  /** Where what was booked can be seen. */
  show: (made: Draft) => void
  /** After it is booked. */
  done?: () => void
  /** In a sheet the parts stand below each other. */
  isStacked?: boolean
}

const MACHINES_SHOWN_MAX = 2

export const BookingForm: Component<FormProps> = props => {
  const now = createMemo(wanted)
  const isMove = () => now().kind === 'move'
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    // A field that was just left has its say first.
    await Promise.resolve()
    if (canWrite() && (await writeDraft(props.show))) props.done?.()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || draft() === null || props.isStacked) return
    event.preventDefault()
    dropDraft()
  }
  return (
    <form
      classList={{ 'bk-ask': true, stacked: props.isStacked ?? false }}
      aria-label={isMove() ? words.booking.formMove : words.booking.form}
      onSubmit={event => void submit(event)}
      onKeyDown={onKey}
    >
      <Show when={isMove()} fallback={<What draft={now()} />}>
        <span class="bk-w">{words.booking.move}</span>
        <b>{now().name}</b>
      </Show>
      <When draft={now()} />
      <Show when={!isMove()}>
        <span class="bk-w">{words.booking.as}</span>
        <TextField
          label={words.booking.name}
          isInline
          value={now().name}
          placeholder={now().class === '' ? words.booking.name : nameOf(now())}
          onValue={name => changeDraft({ name })}
        />
        <Show when={fleet.me().project}>
          {project => (
            <span class="bk-w bk-project">
              {words.booking.forProject} <b>{project()}</b>
            </span>
          )}
        </Show>
      </Show>
      <span class="grow" />
      <Verdict />
      <Show when={!isMove()}>
        <button type="button" class="btn" disabled={isWriting() || !isLive()} onClick={() => void takeFirstWindow()}>
          {words.booking.firstWindow}
          <kbd>F</kbd>
        </button>
      </Show>
      <Show when={draft() !== null && !props.isStacked}>
        <button type="button" class="btn quiet" onClick={dropDraft}>
          {words.doing.cancel}
        </button>
      </Show>
      <button
        class="btn primary bk-book"
        disabled={!canWrite() || !isLive()}
        title={isLive() ? undefined : words.doing.offline}
      >
        {isMove() ? words.booking.keep : words.booking.book}
      </button>
    </form>
  )
}

/** So many of what; or the machines that were chosen. */
const What: Component<{ draft: Draft }> = props => {
  const traits = createMemo(() => traitsOf(props.draft.class))
  const isChosen = () => props.draft.machines.length > 0
  return (
    <>
      <span class="bk-w">{words.booking.bookVerb}</span>
      <Show
        when={isChosen()}
        fallback={
          <>
            <CountField
              label={words.booking.count}
              isInline
              value={props.draft.count}
              onValue={count => changeDraft({ count })}
            />
            <span class="bk-w">×</span>
            <ClassField value={props.draft.class} onValue={kind => changeDraft({ class: kind })} isInline />
            <Show when={traits().length > 0 || props.draft.traits.length > 0}>
              <span class="bk-w">{words.booking.with}</span>
              <TraitsField
                value={props.draft.traits}
                options={traits()}
                onValue={chosen => changeDraft({ traits: chosen })}
              />
            </Show>
          </>
        }
      >
        <Chosen draft={props.draft} />
      </Show>
    </>
  )
}

const Chosen: Component<{ draft: Draft }> = props => {
  const shown = () => props.draft.machines.slice(0, MACHINES_SHOWN_MAX)
  const leaveOut = (uuid: string) => {
    const machines = props.draft.machines.filter(one => one !== uuid)
    changeDraft({ machines, count: Math.max(1, machines.length) })
  }
  return (
    <span class="chips" role="group" aria-label={words.booking.chosen}>
      <For each={shown()}>
        {uuid => {
          const name = () => fleet.machine(uuid)?.name ?? uuid
          return (
            <span class="field slim chipf">
              <b class="mono">{name()}</b>
              <button type="button" aria-label={words.fields.leaveOut(name())} onClick={() => leaveOut(uuid)}>
                <Icon name="cross" />
              </button>
            </span>
          )
        }}
      </For>
      <Show when={props.draft.machines.length > MACHINES_SHOWN_MAX}>
        <span class="bk-w">{words.booking.andMore(props.draft.machines.length - MACHINES_SHOWN_MAX)}</span>
      </Show>
    </span>
  )
}

const When: Component<{ draft: Draft }> = props => {
  const length = () => props.draft.end - props.draft.start
  const isFixed = () => hasStarted(props.draft, serverNow())
  const isWrong = (what: 'start' | 'end' | 'past') => (wrong() === what ? words.booking.wrong[what] : null)
  return (
    <>
      <span class="bk-w">{words.booking.for}</span>
      <SpanField
        label={words.booking.length}
        isInline
        value={length() > 0 ? length() : HOUR_MS}
        error={isWrong('end') ?? isWrong('past')}
        onValue={ms => changeDraft({ end: props.draft.start + ms })}
      />
      <span class="bk-w">{words.booking.from}</span>
      <TimeField
        label={words.booking.start}
        isInline
        isDisabled={isFixed()}
        value={props.draft.start}
        error={isWrong('start')}
        onValue={start => changeDraft({ start, end: start + length() })}
      />
    </>
  )
}

/** Whether it fits, as the newest answer says. */
const Verdict: Component = () => (
  <output class="bk-verdict" aria-live="polite">
    <Switch>
      <Match when={draft() === null}>{null}</Match>
      <Match when={wrong()}>{what => <span class="no">{words.booking.wrong[what()]}</span>}</Match>
      <Match when={isWriting()}>{words.booking.writing}</Match>
      <Match when={isAsking()}>
        <span class="dimmer">{words.booking.asking}</span>
      </Match>
      <Match when={answer()?.fits === true}>
        <span class="yes">
          <Glyph state="free" />
          {words.booking.fits}
        </span>
      </Match>
      <Match when={answer()?.fits === false}>
        <span class="no">
          <Glyph state="broken" />
          {words.booking.doesNot}
        </span>
      </Match>
    </Switch>
  </output>
)

/** The traits that machines of a class have which can be booked; all there are if none is known. */
function traitsOf(kind: string): readonly string[] {
  const found = new Set<string>()
  for (const machine of fleet.machines())
    if (machine.class === kind && machine.bookable) for (const trait of fleet.traitsOf(machine)) found.add(trait)
  return found.size > 0 ? [...found].sort() : fleet.traits()
}
