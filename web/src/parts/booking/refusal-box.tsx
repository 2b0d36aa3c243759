// Why a booking doesn't fit, who is in the way, and what would fit, one key away. Nothing is written while it is shown.
import { type Component, createMemo, For, Show } from 'solid-js'
import { answer, draft, dropDraft, isAsking, offers, takeOffer } from '../../data/draft.ts'
import { fleet } from '../../data/fleet.ts'
import { useKeys } from '../../data/keys.ts'
import { words } from '../../words.ts'
import { Glyph } from '../glyph.tsx'
import { askedFor, groupsOf, offerWords, refusalTitle } from './sentence.ts'
import './booking.css'

/** The newest answer, if it is a refusal. It stays while the next one is awaited, so that nothing flickers. */
export const refusal = () => {
  const said = answer()
  return draft() !== null && said !== null && !said.fits ? said : null
}

export const RefusalBox: Component<{ isInSheet?: boolean }> = props => (
  <Show when={refusal()}>{said => <Why answer={said()} isInSheet={props.isInSheet ?? false} />}</Show>
)

const Why: Component<{ answer: NonNullable<ReturnType<typeof refusal>>; isInSheet: boolean }> = props => {
  const groups = createMemo(() => groupsOf(props.answer, uuid => fleet.spans(uuid)))
  const isMove = () => draft()?.kind === 'move'
  useKeys(
    words.booking.offersTitle,
    [1, 2, 3].map(number => ({
      keys: String(number),
      words: words.booking.takes(number),
      act: () => void takeOffer(number - 1),
    })),
  )
  return (
    <div class="bk-why" role="group" aria-labelledby="bk-why-title" aria-busy={isAsking()}>
      <h2 id="bk-why-title" role="alert">
        <Glyph state="broken" />
        {refusalTitle(props.answer, draft()!)}
      </h2>
      <p class="dim">{askedFor(draft()!)}</p>
      <Show when={props.answer.message}>{message => <p class="bk-message">{message()}</p>}</Show>
      <Show when={groups().length > 0}>
        <ul class="bk-groups">
          <For each={groups()}>
            {group => (
              <li>
                <Glyph state={group.glyph} />
                <span classList={{ dim: group.isAside }}>
                  <Show when={group.isAside} fallback={<b>{group.strong}</b>}>
                    {group.strong}
                  </Show>
                  <Show when={group.details.length > 0}>{`: ${group.details.join('; ')}`}</Show>
                </span>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Show when={offers().length > 0}>
        <h3>{words.booking.offersTitle}</h3>
        <div class="bk-offers">
          <For each={offers()}>
            {(offer, place) => {
              const said = () => offerWords(offer)
              return (
                <button type="button" onClick={() => takeOffer(place())}>
                  <kbd>{place() + 1}</kbd>
                  <span>
                    <b>{said().strong}</b> {said().rest}
                  </span>
                  <em>{said().aside}</em>
                </button>
              )
            }}
          </For>
        </div>
      </Show>
      <p class="bk-foot dimmer">
        {words.booking.nothingWritten}{' '}
        <Show when={!props.isInSheet}>
          <button type="button" class="bk-esc" onClick={dropDraft}>
            <kbd>Esc</kbd>
          </button>{' '}
          {isMove() ? words.booking.escMove : words.booking.escNew}
        </Show>
      </p>
    </div>
  )
}
