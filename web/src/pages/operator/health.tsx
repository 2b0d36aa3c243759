// How the service is: a card a part. Red only if it needs a person.
import { type Component, createMemo, createResource, createSignal, For, onCleanup, Show } from 'solid-js'
import { wallTime } from '../../data/clock.ts'
import { reasonOf, tell } from '../../data/doing.ts'
import { server } from '../../data/session.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Refusal } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { type Card, cardsOf, type Checked } from './cards.ts'

const AGAIN_MS = 5_000

interface HealthData {
  cards: () => readonly Card[]
  troubles: () => number
  refusal: () => string | null
  isChecking: () => boolean
  check: () => Promise<void>
}

/** Asks for the health of the service every few seconds, while the page is shown. */
export function createHealth(): HealthData {
  const [health, { refetch }] = createResource(() => server().health())
  const [checked, setChecked] = createSignal<Checked | null>(null)
  const [isChecking, setIsChecking] = createSignal(false)
  const timer = setInterval(() => document.visibilityState === 'visible' && void refetch(), AGAIN_MS)
  onCleanup(() => clearInterval(timer))
  const cards = createMemo(() => (health.error || !health.latest ? [] : cardsOf(health.latest, checked(), wallTime)))
  const check = async () => {
    setIsChecking(true)
    try {
      const fsck = await server().fsck()
      const { now } = await server().health()
      setChecked({ fsck, at: now })
    } catch (error) {
      tell({ text: words.doing.refused(reasonOf(error)), kind: 'refused', action: null })
    } finally {
      setIsChecking(false)
    }
  }
  return {
    cards,
    troubles: () => cards().filter(({ isBad }) => isBad).length,
    refusal: () => (health.error ? reasonOf(health.error) : null),
    isChecking,
    check,
  }
}

export const HealthCards: Component<{ health: HealthData }> = props => (
  <>
    <Refusal words={props.health.refusal()} />
    <ul class="hc">
      <For each={props.health.cards()}>
        {card => (
          <li classList={{ bad: card.isBad }}>
            <p class="t">
              <Show when={card.isBad} fallback={<Icon name="check" />}>
                <Glyph state="broken" />
              </Show>
              {words.operator.cards[card.name]}
            </p>
            <p class="v cut">{card.value}</p>
            <p class="dimmer cut" title={card.more}>
              {card.more}
            </p>
          </li>
        )}
      </For>
    </ul>
  </>
)
