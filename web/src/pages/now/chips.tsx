// States and classes: what is counted, what it means, and a filter, in one.
import { type Component, createMemo, createSignal, For, Show } from 'solid-js'
import { minute, wallTime, when } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { words } from '../../words.ts'
import { NONE, valuesIn } from '../../data/filter.ts'
import { classesOf, type ClassSummary, STATES, statesShown } from './survey.ts'
import type { NowView } from './view.ts'

const SOON_MS = 12 * 3_600_000
/** The hour alone, if it can mean only one: a card is narrow. */
const soonShown = (at: string) => (Date.parse(at) - minute() < SOON_MS ? wallTime(at) : when(at))

const wordOf = (state: string) => (Object.hasOwn(words.states, state) ? known(state).word : state)
const known = (state: string) => words.states[state as keyof typeof words.states]
const meansOf = (state: string) => (Object.hasOwn(words.states, state) ? known(state).means : undefined)

export const Chips: Component<{ view: NowView }> = props => {
  const asked = () => valuesIn(props.view.filters().state)
  const states = createMemo(() => statesShown(props.view.survey().states, asked()))
  return (
    <div class="chips" role="group" aria-label={words.now.states}>
      <For each={states()}>
        {state => (
          <button
            type="button"
            class="chip"
            aria-pressed={asked().includes(state)}
            title={meansOf(state)}
            onClick={() => props.view.toggle('state', state)}
          >
            <Glyph state={state} />
            <b>{props.view.survey().states.get(state) ?? 0}</b> {wordOf(state)}
          </button>
        )}
      </For>
    </div>
  )
}

/** So many classes have a card; the others are behind a button. */
const CARDS_MAX = 12

export const ClassCards: Component<{ view: NowView }> = props => {
  const [areAll, setAreAll] = createSignal(false)
  const classes = createMemo(() => classesOf(fleet.machines(), fleet.waiting()))
  const names = () => classes().map(({ name }) => name ?? NONE)
  const shown = createMemo(
    () => (areAll() || names().length <= CARDS_MAX ? names() : names().slice(0, CARDS_MAX)),
    [],
    {
      equals: (a, b) => a.length === b.length && a.every((name, at) => name === b[at]),
    },
  )
  return (
    <>
      <div class="classes" role="group" aria-label={words.now.classes}>
        <For each={shown()}>
          {name => <Card view={props.view} summary={() => classes().find(one => (one.name ?? NONE) === name)} />}
        </For>
      </div>
      <Show when={names().length > CARDS_MAX}>
        <button type="button" class="btn quiet small more-classes" onClick={() => setAreAll(!areAll())}>
          {areAll() ? words.now.fewerClasses : words.now.allClasses(names().length)}
        </button>
      </Show>
    </>
  )
}

const Card: Component<{ view: NowView; summary: () => ClassSummary | undefined }> = props => {
  const summary = createMemo((before: ClassSummary | undefined): ClassSummary => props.summary() ?? before!)
  const value = () => summary().name ?? NONE
  const isOn = () => valuesIn(props.view.filters().class).includes(value())
  const states = () => STATES.filter(state => summary().states.has(state))
  const booked = () => summary().states.get('booked') ?? 0
  return (
    <button
      type="button"
      class="cls"
      classList={{ none: summary().free === 0 }}
      aria-pressed={isOn()}
      onClick={() => props.view.toggle('class', value())}
    >
      <span class="cn">
        <b class="cut">{summary().name ?? words.now.noClass}</b>
        <Show when={summary().waiting > 0}>
          <span class="wait">{words.now.waits(summary().waiting)}</span>
        </Show>
      </span>
      <span class="cf">
        <b>{summary().free}</b>
        <span>{words.now.freeOf(summary().count)}</span>
        <Show
          when={summary().nextEnd}
          fallback={<Show when={booked() > 0}>{<em>{words.now.bookedToo(booked())}</em>}</Show>}
        >
          {at => <em class="nx cut">{words.now.nextEnd(soonShown(at()))}</em>}
        </Show>
      </span>
      <span class="stack" aria-hidden="true">
        <For each={states()}>
          {state => <i class={`f-${state}`} style={{ 'flex-grow': summary().states.get(state) ?? 0 }} />}
        </For>
      </span>
    </button>
  )
}
