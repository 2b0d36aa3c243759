// Composing bookings in the calendar: the sentence above, ghosts on the lanes, where it fits, and the refusal beside it.
import { type Accessor, type Component, createEffect, createMemo, on, onCleanup, Show } from 'solid-js'
import type { Span } from '../../../../src/client/status.ts'
import { suits } from '../../data/booking-lanes.ts'
import { draft, dropDraft, startMove, takeFirstWindow } from '../../data/draft.ts'
import { fleet } from '../../data/fleet.ts'
import { useKeys } from '../../data/keys.ts'
import { hasEnded } from '../../data/session.ts'
import { RefusalBeside } from '../../parts/booking/beside.tsx'
import { createComposing } from '../../parts/booking/composing.ts'
import { BookingForm } from '../../parts/booking/form.tsx'
import { Ghosts } from '../../parts/booking/ghosts.tsx'
import { movable } from '../../parts/booking/lanes.ts'
import { bookingAsked, openBooking } from '../../parts/booking/open.ts'
import { useShowBooking } from '../../parts/booking/show.ts'
import { WhereItFits } from '../../parts/booking/where-it-fits.tsx'
import { words } from '../../words.ts'
import type { Composing } from './chart.tsx'
import type { CalendarView } from './view.ts'

interface InCalendar {
  composing: Composing
  /** The machines that a draft is about; null if it isn't about a kind of machines. */
  only: Accessor<ReadonlySet<string> | null>
  /** Begins to move a booking, which then is done by keys, by hand or in the sentence. */
  move: (span: Span) => void
}

export function useComposing(view: CalendarView): InCalendar {
  const show = useShowBooking()
  const { handlersFor, laneIs } = createComposing({ scale: view.scale, show })
  // Whoever takes an offer wants to see it.
  createEffect(
    on(
      () => draft()?.start,
      start => {
        const now = draft()
        const { from, to } = view.scale()
        if (start !== undefined && now && (now.end <= from || start >= to)) view.reveal(start)
      },
    ),
  )
  return {
    composing: {
      handlers: handlersFor,
      lane: laneIs,
      over: (machine, scale) => <Ghosts machine={machine} scale={scale()} />,
      ruler: scale => <WhereItFits scale={scale()} />,
    },
    only: createMemo(machinesMeant, null, { equals: sameSet }),
    move: span => {
      const lease = movable([span])
      if (lease === null) return
      startMove(lease)
      document.querySelector<HTMLElement>('.bk-ask input:enabled')?.focus()
    },
  }
}

function machinesMeant(): ReadonlySet<string> | null {
  const now = draft()
  if (now === null || now.kind === 'move' || now.machines.length > 0) return null
  const all = fleet.machines().filter(machine => suits(now, machine, one => fleet.traitsOf(one)))
  return all.length === 0 ? null : new Set(all.map(({ uuid }) => uuid))
}

const sameSet = (a: ReadonlySet<string> | null, b: ReadonlySet<string> | null) =>
  a === b || (a !== null && b !== null && a.size === b.size && a.isSubsetOf(b))

/** The sentence, and what belongs to it. On a phone it is a button that opens the same in a sheet. */
export const ComposeBar: Component = () => {
  const show = useShowBooking()
  // Whoever leaves has left it; but whose login has ended comes back to it.
  onCleanup(() => bookingAsked() === null && !hasEnded() && dropDraft())
  useKeys(words.booking.keysTitle, [
    { keys: 'f', words: words.booking.keyFirst, act: () => void takeFirstWindow() },
    // Lanes and bars take these themselves.
    { keys: 'b', words: words.booking.keyBook, act: () => {} },
    { keys: 'm', words: words.booking.keyMove, act: () => {} },
  ])
  return (
    <>
      <div classList={{ 'bk-bar': true, composed: draft() !== null }}>
        <button type="button" class="btn primary bk-open" onClick={() => openBooking()}>
          {words.booking.open}
        </button>
        <BookingForm show={show} />
      </div>
      <RefusalBeside />
      <Show when={draft()}>
        <Esc />
      </Show>
    </>
  )
}

const Esc: Component = () => {
  useKeys(words.booking.keysTitle, [{ keys: 'Escape', words: words.booking.keyDrop, act: dropDraft }])
  return null
}
