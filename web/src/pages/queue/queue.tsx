// The queue: who waits for what, since when, behind whom, and when it is likely their turn.
import { useSearchParams } from '@solidjs/router'
import { type Component, createEffect, createMemo, createSignal, For, Match, on, Show, Switch } from 'solid-js'
import type { Waiting } from '../../../../src/client/status.ts'
import { when } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { useKeys } from '../../data/keys.ts'
import { requestName } from '../../data/requests.ts'
import { openGet } from '../../parts/booking/open.ts'
import { Empty, Patience } from '../../parts/empty.tsx'
import { createSheet } from '../../parts/sheet.tsx'
import { createSteady } from '../../parts/steady.ts'
import { words } from '../../words.ts'
import { Card } from './card.tsx'
import { GaveUp } from './gave-up.tsx'
import { Priorities, setsPriorities } from './priorities.tsx'
import { Promised } from './promised.tsx'
import { atShortly, movedPlaces, placesOf } from './sayings.ts'
import { type Asked, Sheets } from './sheets.tsx'
import './queue.css'

const PAGE = words.queue
const MINE = 'mine'
/** So many are shown at first, and more on demand. */
const STEP = 50
const GAVE_UP_STEP = 10
/** So many have their chart drawn at once. */
const CHARTS = 8

const Queue: Component = () => {
  const [search, setSearch] = useSearchParams<{ who?: string }>()
  const sheet = createSheet<Asked>()
  const who = () => search.who ?? ''
  const setWho = (value: string | null) => setSearch({ who: value ?? undefined }, { replace: true })
  const isShown = (row: Waiting) =>
    who() === '' || (who() === MINE ? row.mine : row.who === who() || row.project === who())
  const waiting = createMemo(() => fleet.waiting().filter(row => row.state === 'waiting' && isShown(row)))
  const gaveUp = createMemo(() =>
    fleet
      .waiting()
      .filter(row => row.state === 'gave up' && isShown(row))
      .toSorted((a, b) => Date.parse(b.since) - Date.parse(a.since)),
  )
  useKeys(PAGE.keys, [{ keys: 'm', words: PAGE.keyMine, act: () => setWho(who() === MINE ? null : MINE) }])
  return (
    <div class="page p-queue">
      <Show when={fleet.isLoaded()} fallback={<Patience />}>
        <div class="qm">
          <div class="qh">
            <h1>{sentenceOf(waiting(), who())}</h1>
            <span class="grow" />
            <Whose who={who()} set={setWho} />
          </div>
          <Line rows={waiting()} ask={sheet.open} />
          <Show when={waiting().length === 0}>
            <Nobody who={who()} clear={() => setWho(null)} />
          </Show>
          <GaveUps rows={gaveUp()} ask={sheet.open} />
        </div>
        <aside aria-label={PAGE.aside}>
          <Show when={setsPriorities()}>
            <Priorities />
          </Show>
          <Promised />
        </aside>
        <Said rows={waiting()} />
      </Show>
      <Show when={sheet.value()} keyed>
        {asked => <Sheets asked={asked} close={sheet.close} />}
      </Show>
    </div>
  )
}

function sentenceOf(rows: readonly Waiting[], who: string): string {
  if (rows.length === 0) return who === '' ? PAGE.nobody : who === MINE ? PAGE.youDont : PAGE.nobodyOf(who)
  const starts = rows.flatMap(({ start }) => (start === null ? [] : [Date.parse(start)]))
  return PAGE.waits(rows.length, starts.length === 0 ? null : atShortly(when(Math.min(...starts))))
}

const Whose: Component<{ who: string; set: (who: string | null) => void }> = props => (
  <>
    <Show when={props.who !== '' && props.who !== MINE}>
      <span class="tok">
        <span>{PAGE.whose}</span>
        <b>{props.who}</b>
        <button type="button" aria-label={PAGE.showAll} onClick={() => props.set(null)}>
          ×
        </button>
      </span>
    </Show>
    <div class="seg" role="group" aria-label={PAGE.whose}>
      <button type="button" aria-pressed={props.who === ''} onClick={() => props.set(null)}>
        {PAGE.everyone}
      </button>
      <button type="button" aria-pressed={props.who === MINE} onClick={() => props.set(MINE)}>
        {PAGE.mine}
      </button>
    </div>
  </>
)

const Nobody: Component<{ who: string; clear: () => void }> = props => (
  <Switch>
    <Match when={props.who !== '' && fleet.waiting().some(({ state }) => state === 'waiting')}>
      <p>
        <button type="button" class="btn" onClick={() => props.clear()}>
          {PAGE.showAll}
        </button>
      </p>
    </Match>
    <Match when={true}>
      <div class="card">
        <Empty title={PAGE.nobodyTitle} text={PAGE.nobodyWhy}>
          <div class="tools">
            <Show when={fleet.me().may.includes('allocate')}>
              <button type="button" class="btn primary" onClick={() => openGet()}>
                {PAGE.getOne}
              </button>
            </Show>
            <a class="btn" href="/ui/now?state=free">
              {PAGE.seeFree}
            </a>
          </div>
        </Empty>
      </div>
    </Match>
  </Switch>
)

interface More {
  /** How many of the rest come next; 0 if all are shown. */
  count: () => number
  show: () => void
}

/** The first of many rows, and more of them when asked. They don't move under the hand. */
function createFirst(rows: () => readonly Waiting[], step: number) {
  const [shown, setShown] = createSignal(step)
  const { steady, hold, release } = createSteady(rows, ({ uuid }) => uuid)
  const keys = createMemo(() => steady().keys.slice(0, shown()), [], {
    equals: (a, b) => a.length === b.length && a.every((key, at) => key === b[at]),
  })
  const count = () => Math.min(step, steady().keys.length - keys().length)
  const more: More = { count, show: () => setShown(shown() + step) }
  return { steady, hold, release, keys, more }
}

const More: Component<{ of: More }> = props => (
  <Show when={props.of.count() > 0}>
    <button type="button" class="btn" onClick={() => props.of.show()}>
      {PAGE.more(props.of.count())}
    </button>
  </Show>
)

/** The cards of those who wait. */
const Line: Component<{ rows: readonly Waiting[]; ask: (asked: Asked) => void }> = props => {
  const { steady, hold, release, keys, more } = createFirst(() => props.rows, STEP)
  return (
    <div class="line" {...hold}>
      <Show when={steady().pending > 0}>
        <button type="button" class="pill" onClick={release}>
          {PAGE.pending(steady().pending)}
        </button>
      </Show>
      <For each={keys()}>
        {(key, at) => (
          <Show when={steady().rows.get(key)}>
            {row => <Card row={row()} isGone={steady().gone.has(key)} isOpen={at() < CHARTS} ask={props.ask} />}
          </Show>
        )}
      </For>
      <More of={more} />
    </div>
  )
}

const GaveUps: Component<{ rows: readonly Waiting[]; ask: (asked: Asked) => void }> = props => {
  const { steady, hold, keys, more } = createFirst(() => props.rows, GAVE_UP_STEP)
  return (
    <Show when={props.rows.length > 0}>
      <section class="line" aria-labelledby="queue-gave-up" {...hold}>
        <div class="qh">
          <h2 id="queue-gave-up">
            {PAGE.gaveUp} <span class="dimmer">{props.rows.length}</span>
          </h2>
        </div>
        <For each={keys()}>
          {key => <Show when={steady().rows.get(key)}>{row => <GaveUp row={row()} ask={props.ask} />}</Show>}
        </For>
        <More of={more} />
      </section>
    </Show>
  )
}

const SAID_MAX = 3

/** New places, told politely: one's own if one waits, else all. */
const Said: Component<{ rows: readonly Waiting[] }> = props => {
  const [text, setText] = createSignal('')
  const own = () => (props.rows.some(({ mine }) => mine) ? props.rows.filter(({ mine }) => mine) : props.rows)
  createEffect(
    on(own, (rows, before) => {
      if (before === undefined) return
      const moved = movedPlaces(placesOf(before), rows)
      if (moved.length === 0) return
      const one = (row: Waiting) =>
        PAGE.placeSaid(requestName(row), row.place!, row.of, row.start === null ? null : when(row.start))
      setText(moved.length > SAID_MAX ? PAGE.placesSaid(moved.length) : moved.map(one).join(' '))
    }),
  )
  return (
    <p class="vh" role="status">
      {text()}
    </p>
  )
}

export default Queue
