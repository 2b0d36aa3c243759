// Extends what has machines: by so much, or until. What can't last so long is said before anything is written, with the
// longest that fits.
import { type Component, createEffect, createMemo, createSignal, For, onCleanup, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { instantTyped, serverNow, spanTyped, utc, when } from '../../data/clock.ts'
import { reasonOf } from '../../data/doing.ts'
import { server } from '../../data/session.ts'
import { words } from '../../words.ts'
import { Glyph } from '../glyph.tsx'
import { Icon } from '../icon.tsx'
import { called, onAll } from './deeds.ts'
import { Form } from './form.tsx'
import { endOf, extend, type Had, hadOf, tryToExtend, type Wanted, withTimes } from './promises.ts'

const HOUR_MS = 3_600_000
const QUICK = [
  { byMs: 4 * HOUR_MS, text: words.verbs.plus4h },
  { byMs: 24 * HOUR_MS, text: words.verbs.plus1d },
  { byMs: 7 * 24 * HOUR_MS, text: words.verbs.plus1w },
]
/** After the last change of what is wanted. */
const PAUSE_MS = 120
/** So many are tried before they are written; the rest is told afterwards. */
const TRIED_MAX = 24

/** So many are seen without scrolling. */
const SEEN_MAX = 8

type Answer = { whyNot: string | null; longest: number | null } | null

interface ExtendProps {
  machines: readonly Machine[]
  byMs: number | 'until' | null
  close: () => void
}

export const ExtendSheet: Component<ExtendProps> = props => {
  const had = hadOf(props.machines, 'extend').toSorted((a, b) => (a.until ?? '').localeCompare(b.until ?? ''))
  const [wanted, setWanted] = createSignal<Wanted>({
    byMs: typeof props.byMs === 'number' ? props.byMs : QUICK[0]!.byMs,
  })
  const [typed, setTyped] = createSignal<string | null>(props.byMs === 'until' ? '' : null)
  /** Those that end elsewhere than the others: the longest that fits was taken. */
  const [own, setOwn] = createSignal<ReadonlyMap<string, number>>(new Map())
  const typedAt = createMemo(() => untilIn(typed() ?? ''))
  const isUnclear = () => typed() !== null && typed()!.trim() !== '' && typedAt() === null
  const isEarlier = () => typedAt() !== null && had.every(({ until }) => typedAt()! <= Date.parse(until ?? ''))
  const endFor = (one: Had) => own().get(one.id) ?? endOf(one, wanted(), serverNow())
  const answers = createAnswers(had, endFor)
  const refused = () => had.filter(({ id }) => answers().get(id)?.whyNot)
  const isReady = () =>
    !isUnclear() && !isEarlier() && (typed() === null || typedAt() !== null) && had.length > refused().length

  const choose = (next: Wanted) => {
    setOwn(new Map<string, number>())
    setWanted(next)
  }
  const type = (text: string) => {
    setTyped(text)
    const until = untilIn(text)
    if (until !== null) choose({ until })
  }
  const act = () => {
    const fitting = had.filter(one => !refused().includes(one)).map(one => ({ ...one, end: endFor(one) }))
    return onAll(fitting, {
      said: what => words.verbs.extended(what, fitting.length === 1 ? when(fitting[0]!.end) : null),
      act: (at, one) => extend(at, one, one.end),
      undo: (at, one) => extend(at, one, Date.parse(one.until!)),
    })
  }

  return (
    <Form
      title={words.verbs.extendOf(had.length === 1 ? had[0]!.name : called(props.machines))}
      verb={
        refused().length > 0 && had.length > 1
          ? words.verbs.extendSome(had.length - refused().length, had.length)
          : words.verbs.extend
      }
      isReady={isReady()}
      act={act}
      close={props.close}
    >
      <div class="tools">
        <div class="seg" role="group" aria-label={words.verbs.byHowMuch}>
          <For each={QUICK}>
            {({ byMs, text }) => (
              <button
                ref={element => typed() === null && isBy(wanted(), byMs) && queueMicrotask(() => element.focus())}
                type="button"
                aria-pressed={typed() === null && isBy(wanted(), byMs)}
                onClick={() => {
                  setTyped(null)
                  choose({ byMs })
                }}
              >
                {text}
              </button>
            )}
          </For>
          <button type="button" aria-pressed={typed() !== null} onClick={() => type(typed() ?? '')}>
            {words.verbs.until}
          </button>
        </div>
        <Show when={typed() !== null}>
          <input
            ref={element => queueMicrotask(() => element.focus())}
            class="field until"
            aria-label={words.verbs.untilWhen}
            aria-invalid={isUnclear() || isEarlier()}
            aria-describedby="until-said"
            placeholder="tue 14:00"
            value={typed()!}
            onInput={({ target }) => type(target.value)}
          />
        </Show>
      </div>
      <p id="until-said" classList={{ wrong: isUnclear() || isEarlier(), dimmer: true }}>
        {isUnclear()
          ? words.verbs.unclear
          : isEarlier()
            ? words.verbs.isEarlier
            : typed() === null
              ? ''
              : words.verbs.untilHint}
      </p>
      <ul class="ends" tabindex={had.length > SEEN_MAX ? 0 : undefined} aria-label={words.verbs.whenEach}>
        <For each={had}>
          {one => (
            <Ending
              had={one}
              end={endFor(one)}
              answer={answers().get(one.id) ?? null}
              takeLongest={longest => setOwn(all => new Map(all).set(one.id, longest))}
            />
          )}
        </For>
      </ul>
    </Form>
  )
}

interface EndingProps {
  had: Had
  end: number
  answer: Answer
  takeLongest: (longest: number) => void
}

const Ending: Component<EndingProps> = props => (
  <li>
    <Glyph state={props.had.kind === 'hold' ? 'held' : 'taken'} />
    <span class="grow">
      <b class="med">{props.had.name}</b>{' '}
      <span class="dimmer">
        {props.had.machines.length === 1
          ? props.had.machines[0]!.name
          : words.verbs.machines(props.had.machines.length)}
      </span>
      <Show when={props.answer?.whyNot}>
        {whyNot => (
          <span class="why" role="alert">
            <Icon name="warn" /> {withTimes(whyNot(), when)}
          </span>
        )}
      </Show>
      <Show when={props.answer?.longest}>
        {longest => (
          <button type="button" class="btn small" onClick={() => props.takeLongest(longest())}>
            {words.verbs.longest(when(longest()))}
          </button>
        )}
      </Show>
    </span>
    <span class="nowrap" title={utc(props.end)}>
      <Show when={props.had.until}>{until => <s class="dimmer">{when(until())}</s>}</Show>{' '}
      <b classList={{ med: true, wrong: Boolean(props.answer?.whyNot) }}>{when(props.end)}</b>
    </span>
  </li>
)

const isBy = (wanted: Wanted, byMs: number) => 'byMs' in wanted && wanted.byMs === byMs

/** `tue 14:00`, or `2d` from now. */
function untilIn(text: string): number | null {
  if (text.trim() === '') return null
  const span = spanTyped(text.trim())
  return span === null ? instantTyped(text.trim()) : serverNow() + span
}

/** The dry run of each, a moment after the last change. Answers to an older question are dropped. */
function createAnswers(had: readonly Had[], endFor: (had: Had) => number): () => ReadonlyMap<string, Answer> {
  const [answers, setAnswers] = createSignal<ReadonlyMap<string, Answer>>(new Map())
  let asked = 0
  createEffect(() => {
    const ends = had.slice(0, TRIED_MAX).map(one => [one, endFor(one)] as const)
    const number = ++asked
    const timer = setTimeout(() => {
      for (const [one, end] of ends) {
        tryToExtend(server(), one, end)
          .catch((error: unknown) => ({ whyNot: reasonOf(error), longest: null }))
          .then(answer => number === asked && setAnswers(all => new Map(all).set(one.id, answer)))
          .catch(() => {})
      }
    }, PAUSE_MS)
    onCleanup(() => clearTimeout(timer))
  })
  onCleanup(() => asked++)
  return answers
}
