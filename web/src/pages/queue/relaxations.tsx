// What would help a request that has no machine: each a button that makes a request like it.
import { type Component, createSignal, For, Show } from 'solid-js'
import type { AllocationExplained, Reasons } from '../../../../src/client/allocations.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { askAgain } from '../../data/queue.ts'
import type { Change } from '../../data/requests.ts'
import { traitShown } from '../../parts/trait.ts'
import { words } from '../../words.ts'

const PAGE = words.queue

interface RelaxationsProps {
  of: AllocationExplained
  relaxations: Reasons['relaxations']
  label: string
}

export const Relaxations: Component<RelaxationsProps> = props => (
  <Show when={props.relaxations.length > 0}>
    <div class="fix">
      <span class="dimmer">{props.label}</span>
      <For each={props.relaxations}>
        {({ without, nodes }) => (
          <Ask
            of={props.of}
            change={{ withoutTraits: without.traits, withoutCandidates: without.candidate_nodes }}
            text={[
              ...(without.traits ? [PAGE.leaveOut(without.traits.map(traitShown))] : []),
              ...(without.candidate_nodes ? [PAGE.anyMachine] : []),
            ].join(', ')}
            note={PAGE.machines(nodes)}
            isGood
          />
        )}
      </For>
    </div>
  </Show>
)

interface AskProps {
  of: AllocationExplained
  change: Change
  text: string
  note: string
  isGood: boolean
}

/** For those who may ask; for others only words. */
export const Ask: Component<AskProps> = props => {
  const [isBusy, setIsBusy] = createSignal(false)
  const mayAsk = () => {
    const { may, project } = fleet.me()
    const { project_name } = props.of.allocation
    return may.includes('allocate') && (project_name === project || may.includes('allocate for others'))
  }
  const ask = async () => {
    if (isBusy()) return
    setIsBusy(true)
    await askAgain(props.of, props.change)
    setIsBusy(false)
  }
  return (
    <Show
      when={mayAsk()}
      fallback={
        <span class="said">
          {props.text} <em classList={{ good: props.isGood }}>{props.note}</em>
        </span>
      }
    >
      <button
        type="button"
        class="btn small"
        disabled={isBusy() || !isLive()}
        title={isLive() ? undefined : words.doing.offline}
        onClick={() => void ask()}
      >
        {props.text} <em classList={{ good: props.isGood }}>{props.note}</em>
      </button>
    </Show>
  )
}
