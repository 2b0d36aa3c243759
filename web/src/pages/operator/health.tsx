// How the service is: a card a part. Red only if it needs a person.
import { type Component, createResource, createSignal, For, onCleanup, Show } from 'solid-js'
import type { Fsck } from '../../../../src/client/operations.ts'
import { serverNow, wallTime } from '../../data/clock.ts'
import { reasonOf, tell } from '../../data/doing.ts'
import { server } from '../../data/session.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Refusal } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'

const AGAIN_MS = 5_000

interface Card {
  name: keyof typeof words.operator.cards
  value: string
  more: string
  isBad: boolean
}

export interface HealthData {
  cards: () => readonly Card[]
  troubles: () => number
  refusal: () => string | null
  isChecking: () => boolean
  check: () => Promise<void>
}

/** Asks for the health of the service every few seconds, while the page is shown. */
export function createHealth(): HealthData {
  const [conductors, { refetch }] = createResource(() => server().conductors.list())
  const [checked, setChecked] = createSignal<{ at: number; fsck: Fsck } | null>(null)
  const [isChecking, setIsChecking] = createSignal(false)
  const timer = setInterval(() => document.visibilityState === 'visible' && void refetch(), AGAIN_MS)
  onCleanup(() => clearInterval(timer))
  const cards = (): Card[] => {
    const all = conductors.error ? [] : (conductors.latest ?? [])
    const alive = all.filter(one => one.alive)
    const fsck = checked()
    return [
      {
        name: 'conductors',
        value: words.operator.alive(alive.length),
        more: words.operator.conductorsAre(all.map(({ hostname }) => hostname)),
        isBad: alive.length === 0,
      },
      {
        name: 'fsck',
        value:
          fsck === null
            ? words.operator.notChecked
            : words.operator.holding(holding(fsck.fsck), fsck.fsck.invariants.length),
        more: fsck === null ? '' : words.operator.checked(wallTime(fsck.at)),
        isBad: (fsck?.fsck.violations ?? 0) > 0,
      },
    ]
  }
  const check = async () => {
    setIsChecking(true)
    try {
      setChecked({ fsck: await server().fsck(), at: serverNow() })
    } catch (error) {
      tell({ text: words.doing.refused(reasonOf(error)), kind: 'refused', action: null })
    } finally {
      setIsChecking(false)
    }
  }
  return {
    cards,
    troubles: () => cards().filter(({ isBad }) => isBad).length,
    refusal: () => (conductors.error ? reasonOf(conductors.error) : null),
    isChecking,
    check,
  }
}

const holding = ({ invariants }: Fsck) => invariants.filter(({ violations }) => violations === 0).length

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
            <p class="v">{card.value}</p>
            <p class="dimmer cut">{card.more}</p>
          </li>
        )}
      </For>
    </ul>
  </>
)
