// Why one waits so long: who has each machine that would suit, and what would help.
import { type Component, createMemo, createResource, For, Show } from 'solid-js'
import type { Machine, Waiting } from '../../../../src/client/status.ts'
import { reasonOf } from '../../data/doing.ts'
import { machineHref } from '../../data/machine-href.ts'
import { fleet } from '../../data/fleet.ts'
import { explained } from '../../data/queue.ts'
import { Patience } from '../../parts/empty.tsx'
import { StateWord } from '../../parts/glyph.tsx'
import { Refusal } from '../../parts/sheet.tsx'
import { When } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { Relaxations } from './relaxations.tsx'

const PAGE = words.queue
const FAR = Number.MAX_SAFE_INTEGER

const endOf = ({ until }: Machine) => (until === null ? FAR : Date.parse(until))

export const Why: Component<{ row: Waiting }> = props => {
  const [answer] = createResource(
    () => props.row.uuid,
    uuid => explained(uuid),
  )
  const machines = createMemo(() =>
    props.row.suits.flatMap(uuid => fleet.machine(uuid) ?? []).toSorted((a, b) => endOf(a) - endOf(b)),
  )
  /** Those that no row shows. */
  const hidden = () => {
    const queue = answer.error === undefined ? answer()?.queue : null
    return machines().length > 0 ? [] : (queue?.others ?? [])
  }
  return (
    <div class="why">
      <Show when={machines().length > 0}>
        <table>
          <caption>{PAGE.whyTitle(machines().length)}</caption>
          <thead>
            <tr>
              <th scope="col">{PAGE.machine}</th>
              <th scope="col">{PAGE.what}</th>
              <th scope="col">{PAGE.who}</th>
              <th scope="col">{PAGE.until}</th>
            </tr>
          </thead>
          <tbody>
            <For each={machines()}>{machine => <Holder machine={machine} />}</For>
          </tbody>
        </table>
      </Show>
      <For each={hidden()}>{({ what, count }) => <p class="dim">{PAGE.others(count, what)}</p>}</For>
      <Show when={answer.loading}>
        <Patience />
      </Show>
      <Refusal words={answer.error === undefined ? null : reasonOf(answer.error)} />
      <Show when={answer.error === undefined && answer()}>
        {found => <Relaxations of={found()} relaxations={found().now.relaxations} label={PAGE.helps} />}
      </Show>
    </div>
  )
}

const Holder: Component<{ machine: Machine }> = props => (
  <tr>
    <td>
      <a class="med" href={machineHref(props.machine)}>
        {props.machine.name ?? props.machine.uuid}
      </a>
    </td>
    <td>
      <StateWord state={props.machine.state} verb={props.machine.verb} /> <span class="dim">{props.machine.what}</span>
    </td>
    <td>
      {props.machine.who ?? (props.machine.kind === null ? '' : words.someone)}{' '}
      <span class="dimmer">{props.machine.project}</span>
    </td>
    <td>
      <Show when={props.machine.until} fallback={<span class="dimmer">{PAGE.noEnd}</span>}>
        {until => <When at={until()} />}
      </Show>
    </td>
  </tr>
)
