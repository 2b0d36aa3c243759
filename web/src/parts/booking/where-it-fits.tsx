// The lane above all others: where the draft is, and the windows in which it would fit.
import { type Component, createMemo, For, Show } from 'solid-js'
import { lasting, when } from '../../data/clock.ts'
import { answer, draft, isAsking, offers, takeOffer } from '../../data/draft.ts'
import { words } from '../../words.ts'
import { Glyph } from '../glyph.tsx'
import { type Scale, xOf } from '../timeline/scale.ts'
import './booking.css'

interface ShownWindow {
  kind: 'yours' | 'window'
  start: number
  end: number
  /** The offer that it stands for; null for the draft itself. */
  offer: number | null
  /** null while nobody knows. */
  fits: boolean | null
}

/** The draft itself, then what is offered in time. */
function windowsShown(): ShownWindow[] {
  const now = draft()
  if (now === null) return []
  const fits = isAsking() ? null : (answer()?.fits ?? null)
  const own: ShownWindow = { kind: 'yours', start: now.start, end: now.end, offer: null, fits }
  const windows = offers().flatMap((offer, place): ShownWindow[] =>
    offer.kind === 'window' ? [{ kind: 'window', start: offer.start, end: offer.end, offer: place, fits: true }] : [],
  )
  return [own, ...windows]
}

export const WhereItFits: Component<{ scale: Scale }> = props => {
  const shown = createMemo(() =>
    windowsShown().filter(({ start, end }) => start < props.scale.to && end > props.scale.from),
  )
  const style = ({ start, end }: ShownWindow) => {
    const x = Math.max(0, xOf(props.scale, start))
    return { left: `${x}px`, width: `${Math.max(24, Math.min(props.scale.width, xOf(props.scale, end)) - x)}px` }
  }
  return (
    <div class="bk-windows">
      <For each={shown()}>
        {window => (
          <Show
            when={window.offer !== null}
            fallback={
              <span
                classList={{ 'bk-win': true, bad: window.fits === false, own: true }}
                style={style(window)}
                title={words.booking.span(when(window.start), when(window.end))}
              >
                <Show when={window.fits === false}>
                  <Glyph state="broken" />
                </Show>
                <b>{words.booking.yours}</b>{' '}
                <Show when={window.fits === false && answer()?.message === null}>
                  {words.booking.yoursOf(answer()!.free, answer()!.of)}
                </Show>
              </span>
            }
          >
            <button
              type="button"
              class="bk-win"
              style={style(window)}
              title={words.booking.span(when(window.start), when(window.end))}
              onClick={() => takeOffer(window.offer!)}
            >
              <kbd>{window.offer! + 1}</kbd>
              <b>{when(window.start)}</b> {lasting(window.end - window.start)}
            </button>
          </Show>
        )}
      </For>
    </div>
  )
}
