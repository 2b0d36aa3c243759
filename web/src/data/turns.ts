// It's your turn: told until it is seen, also after the page was closed meanwhile.
import { createEffect, createSignal, untrack } from 'solid-js'
import { fleet } from './fleet.ts'
import { forNext } from './session.ts'
import { keep, kept } from './settings.ts'
import { NO_TURNS, type Turns, turnsOf } from './turn-rows.ts'

const [turns, setTurns] = createSignal<Turns>(NO_TURNS)
forNext(() => setTurns(NO_TURNS))
export const served = () => turns().served

const keyOf = () => `turns-${fleet.me().user ?? ''}-${fleet.me().project ?? ''}`

function known(): Turns {
  try {
    return JSON.parse(kept(keyOf()) ?? '') as Turns
  } catch {
    return NO_TURNS
  }
}

function set(next: Turns): void {
  setTurns(next)
  const isEmpty = next.served.length === 0 && Object.keys(next.waits).length === 0
  const text = isEmpty ? null : JSON.stringify(next)
  if (text !== kept(keyOf())) keep(keyOf(), text)
}

/** Watches the queue while the caller is shown. */
export function useTurns(): void {
  createEffect(() => {
    if (!fleet.isLoaded()) return
    const waiting = fleet.waiting()
    // Whoever is served leaves the queue and gets the machine at once: only the queue is watched.
    set(
      turnsOf(
        known(),
        waiting,
        untrack(() => fleet.machines()),
      ),
    )
  })
}

export const seen = (uuid: string): void => set({ ...turns(), served: served().filter(one => one.uuid !== uuid) })
