// What would come of asking for a machine: free now, a place in the queue, or why nothing fits and what would help.
import { type Component, createMemo, For, Match, Show, Switch } from 'solid-js'
import type { Reasons } from '../../../../src/client/allocations.ts'
import { when } from '../../data/clock.ts'
import { type Outlook, type Relaxation, relaxationsOf, relaxed, type Wanted } from '../../data/get-rules.ts'
import { fleet } from '../../data/fleet.ts'
import { words } from '../../words.ts'
import { Glyph } from '../glyph.tsx'
import { traitShown } from '../trait.ts'
import { closeGet, openBooking } from './open.ts'

interface OutlookProps {
  outlook: Outlook | null
  wanted: Wanted
  isAsking: boolean
  relax: (wanted: Wanted) => void
}

export const OutlookBox: Component<OutlookProps> = props => (
  <section class="outlook" aria-live="polite" aria-busy={props.isAsking} aria-label={words.get.outlook}>
    <Show when={props.outlook} fallback={<p class="dimmer">{props.isAsking ? words.booking.asking : ''}</p>}>
      {outlook => <Said outlook={outlook()} wanted={props.wanted} relax={props.relax} />}
    </Show>
  </section>
)

const Said: Component<Omit<OutlookProps, 'isAsking' | 'outlook'> & { outlook: Outlook }> = props => {
  const title = () => {
    const { when: soon, free, place, start } = props.outlook
    if (soon === 'now') return words.get.freeNow(free)
    if (soon === 'never') return words.get.never(props.wanted.class, props.outlook.reasons?.considered ?? 0)
    if (place === null) return words.get.someFree(free, props.wanted.count)
    return words.get.place(place.place, place.of, start === null ? null : when(start))
  }
  const relaxations = createMemo(() => relaxationsOf(props.outlook.reasons))
  /** How many can only be booked, if the viewer may. */
  const kept = () =>
    fleet.me().may.includes('book') && props.outlook.reasons?.causes.find(({ cause }) => cause === 'leasable')?.count
  const glyph = () => ({ now: 'free', later: 'held', never: 'broken' })[props.outlook.when]
  return (
    <>
      <h3>
        <Glyph state={glyph()} />
        {title()}
      </h3>
      <Switch>
        <Match when={props.outlook.when === 'later' && props.outlook.because}>
          {machine => <p class="dim">{words.get.because(machine())}</p>}
        </Match>
      </Switch>
      <Show when={props.outlook.when !== 'now'}>
        <Funnel reasons={props.outlook.reasons} />
        <div class="bk-offers">
          <For each={relaxations()}>
            {relaxation => (
              <button type="button" onClick={() => props.relax(relaxed(props.wanted, relaxation))}>
                <b>{leftOut(relaxation)}</b>
                <em>{words.booking.machines(relaxation.nodes)}</em>
              </button>
            )}
          </For>
          <Show when={kept()}>
            {count => (
              <button type="button" onClick={() => bookInstead(props.wanted.class)}>
                <b>{words.get.bookInstead}</b>
                <em>{words.booking.machines(count())}</em>
              </button>
            )}
          </Show>
        </div>
      </Show>
    </>
  )
}

function bookInstead(kind: string): void {
  closeGet()
  openBooking({ class: kind })
}

const leftOut = ({ traits, machines }: Relaxation) =>
  words.get.leaveOut([...traits.map(traitShown), ...(machines ? [words.get.theChoice] : [])])

/** The state of a machine that a cause is shown as. */
const GLYPHS: Readonly<Record<string, string>> = {
  allocated: 'taken',
  claimed: 'taken',
  reserved: 'held',
  maintenance: 'maintenance',
  broken: 'broken',
  retired: 'retired',
  leasable: 'booked',
}

const NAMED_MAX = 4

/** All machines of the class, by what keeps each from it. */
const Funnel: Component<{ reasons: Reasons | null }> = props => (
  <Show when={props.reasons}>
    {reasons => (
      <ul class="bk-groups">
        <Show when={reasons().available > 0}>
          <li>
            <Glyph state="free" />
            <b>{words.booking.areFree(reasons().available)}</b>
          </li>
        </Show>
        <For each={reasons().causes}>
          {({ cause, count, traits = [], sample }) => (
            <li>
              <Glyph state={GLYPHS[cause] ?? 'setup'} />
              <span>
                <b>{words.get.cause(cause, count, traits.map(traitShown))}</b>
                <Show when={sample.length > 0}>
                  {`: ${words.booking
                    .named(
                      sample.slice(0, NAMED_MAX).map(({ name, uuid }) => name ?? uuid),
                      count,
                    )
                    .join('')}`}
                </Show>
              </span>
            </li>
          )}
        </For>
      </ul>
    )}
  </Show>
)
