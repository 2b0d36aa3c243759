// Composing on lanes, by hand and by keys. Whoever shows lanes passes on what is done there, and draws the ghosts.
import { createEffect, createSignal, on, onCleanup } from 'solid-js'
import type { Draft } from '../../data/booking-draft.ts'
import { answer, canWrite, draft, dropDraft, isAsking, writeDraft } from '../../data/draft.ts'
import type { LaneHandlers } from '../timeline/lane.tsx'
import type { Scale } from '../timeline/scale.ts'
import { Hand } from './by-hand.ts'
import { Keys } from './by-keys.ts'
import { Lanes } from './lanes.ts'

interface Composing {
  handlersFor: (machine: string) => LaneHandlers
  /** Tells which machine a lane shows, so that a hand may go over several. */
  laneIs: (machine: string, element: HTMLElement) => void
}

interface ComposingOptions {
  scale: () => Scale
  /** Where what was booked can be seen. */
  show: (made: Draft) => void
}

export function createComposing({ scale, show }: ComposingOptions): Composing {
  const lanes = new Lanes(scale)
  const writeSoon = useWriteWhenFits(() => writeDraft(show))
  const hand = new Hand(lanes, writeSoon)
  const keys = new Keys(lanes, writeSoon)
  createEffect(
    on(draft, now => {
      if (now !== null) return
      hand.forget()
      keys.forget()
    }),
  )
  onCleanup(() => hand.stop())
  return {
    laneIs: (machine, element) => lanes.add(element, machine),
    handlersFor: machine => ({
      pointerDown: (event, point) => hand.pointerDown(machine, event, point),
      click: (event, point) => hand.click(machine, event, point),
      keyDown: (event, point) => keys.keyDown(machine, event, point),
    }),
  }
}

/** Writes as soon as the newest answer says that it fits; a refusal stays to be read. */
function useWriteWhenFits(write: () => Promise<boolean>): () => void {
  const [waits, setWaits] = createSignal<Draft | null>(null)
  createEffect(() => {
    const now = waits()
    if (now === null || isAsking()) return
    setWaits(null)
    if (draft() !== now) return
    if (answer()?.fits === true && canWrite()) void write()
    // Back where it was: nothing to write.
    else if (answer() === null) dropDraft()
  })
  return () => setWaits(draft())
}
