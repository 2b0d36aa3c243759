// Machines in maintenance, by reason.
import { type Component, createMemo, For, Show } from 'solid-js'
import { fleet } from '../../data/fleet.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { actionOf } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'
import { maintenanceIn, type Reason } from './failures.ts'

const NAMES_SHOWN = 6

export const InMaintenance: Component = () => {
  const reasons = createMemo(() => maintenanceIn(fleet.machines()))
  const count = () => reasons().reduce((sum, { machines }) => sum + machines.length, 0)
  return (
    <section class="card" aria-labelledby="maintained">
      <header class="ch">
        <h2 id="maintained">
          {words.operator.maintenance}
          <Show when={count() > 0}>
            <span class="pip">{count()}</span>
          </Show>
        </h2>
        <a class="btn small quiet" href="/ui/now?view=table&state=maintenance">
          {words.operator.byMachine}
        </a>
      </header>
      <Show when={count() > 0} fallback={<p class="none dim">{words.operator.noMaintenance}</p>}>
        <ul class="mr">
          <For each={reasons()}>{reason => <ReasonRow {...reason} />}</For>
        </ul>
      </Show>
    </section>
  )
}

const ReasonRow: Component<Reason> = props => {
  const names = () =>
    props.machines.map(({ rack, slot, name, uuid }) =>
      rack && slot ? `${rack.replace(/^rack-/, '')}-${slot}` : (name ?? uuid),
    )
  const end = () => actionOf('end maintenance', props.machines)
  return (
    <li>
      <Glyph state="maintenance" />
      <span class="grow cut">{props.reason ?? words.operator.noReason}</span>
      <span class="mono dimmer cut" title={names().join(' ')}>
        {names().slice(0, NAMES_SHOWN).join(' ')}
        {names().length > NAMES_SHOWN ? ' …' : ''}
      </span>
      <Show when={end()}>
        {action => (
          <button
            type="button"
            class="btn small quiet"
            disabled={action().whyNot !== null}
            onClick={() => action().act()}
          >
            {words.operator.endAll(props.machines.length)}
          </button>
        )}
      </Show>
    </li>
  )
}
