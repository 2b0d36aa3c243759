// Failed machines, by error or one by one, with the verb that helps.
import { type Component, createMemo, createSignal, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { fleet } from '../../data/fleet.ts'
import { machineHref } from '../../data/machine-href.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { actionOf } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'
import { type Failure, failuresIn, helpOf } from './failures.ts'

export const FailedMachines: Component = () => {
  const failures = createMemo(() => failuresIn(fleet.machines()))
  const count = () => failures().reduce((sum, { machines }) => sum + machines.length, 0)
  const [isByError, setIsByError] = createSignal(true)
  return (
    <section class="card" aria-labelledby="failed">
      <header class="ch">
        <h2 id="failed">
          {words.operator.failed}
          <Show when={count() > 0}>
            <span class="pip hot">{count()}</span>
          </Show>
        </h2>
        <div class="seg">
          <button type="button" aria-pressed={isByError()} onClick={() => setIsByError(true)}>
            {words.operator.byError}
          </button>
          <button type="button" aria-pressed={!isByError()} onClick={() => setIsByError(false)}>
            {words.operator.byMachine}
          </button>
        </div>
      </header>
      <Show when={count() > 0} fallback={<p class="none dim">{words.operator.noneFailed}</p>}>
        <Show when={isByError()} fallback={<ByMachine failures={failures()} />}>
          <For each={failures()}>{failure => <FailureGroup failure={failure} />}</For>
        </Show>
      </Show>
    </section>
  )
}

const FailureGroup: Component<{ failure: Failure }> = props => (
  <section class="fg">
    <header>
      <Glyph state="broken" />
      <div class="grow">
        <h3>{words.operator.failedTo(props.failure.machines.length, props.failure.step)}</h3>
        <p class="dim">{props.failure.error ?? words.operator.noError}</p>
      </div>
      <Help verb={props.failure.verb} machines={props.failure.machines} class="btn" />
    </header>
    <p class="help">{words.operator.helps(props.failure.step)}</p>
    <ul class="ml">
      <For each={props.failure.machines}>{machine => <FailedMachine machine={machine} />}</For>
    </ul>
  </section>
)

const ByMachine: Component<{ failures: readonly Failure[] }> = props => (
  <ul class="ml flat">
    <For each={props.failures.flatMap(({ machines }) => machines)}>
      {machine => <FailedMachine machine={machine} hasError />}
    </For>
  </ul>
)

const FailedMachine: Component<{ machine: Machine; hasError?: boolean }> = props => (
  <li>
    <a class="mono" href={machineHref(props.machine)}>
      {props.machine.name ?? props.machine.uuid}
    </a>
    <span class="dimmer cut">{props.hasError ? (props.machine.error ?? '') : props.machine.class}</span>
    <Help verb={helpOf(props.machine)} machines={[props.machine]} class="btn small quiet" />
  </li>
)

/** The verb that helps, as a button. */
const Help: Component<{ verb: string | null; machines: readonly Machine[]; class: string }> = props => (
  <Show when={props.verb !== null && actionOf(props.verb, props.machines)}>
    {action => (
      <button
        type="button"
        class={props.class}
        disabled={action().whyNot !== null}
        title={action().whyNot ?? undefined}
        onClick={() => action().act()}
      >
        {words.operator.verbAll(action().text, props.machines.length)}
      </button>
    )}
  </Show>
)
