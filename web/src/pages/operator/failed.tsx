// Failed machines, by error or one by one, with the verb that helps.
import { type Component, createMemo, createSignal, For, Show } from 'solid-js'
import type { Verb } from '../../../../src/client/nodes.ts'
import type { Machine } from '../../../../src/client/status.ts'
import { reasonOf, tell } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { server } from '../../data/session.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { createSheet, Question } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { type Failure, failuresIn, helpOf } from './failures.ts'

/** The bare metal API's word for a verb. */
const TARGETS: Readonly<Record<string, Verb>> = { deploy: 'active', undeploy: 'deleted' }
const targetOf = (verb: string) => TARGETS[verb] ?? (verb as Verb)
/** How many requests are under way at once. */
const AT_ONCE = 4

interface Ask {
  verb: string
  machines: readonly Machine[]
}

export const FailedMachines: Component = () => {
  const failures = createMemo(() => failuresIn(fleet.machines()))
  const count = () => failures().reduce((sum, { machines }) => sum + machines.length, 0)
  const [isByError, setIsByError] = createSignal(true)
  const asked = createSheet<Ask>()
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
        <Show when={isByError()} fallback={<ByMachine failures={failures()} ask={asked.open} />}>
          <For each={failures()}>{failure => <FailureGroup failure={failure} ask={asked.open} />}</For>
        </Show>
      </Show>
      <Show when={asked.value()}>{ask => <AskVerb {...ask()} close={asked.close} />}</Show>
    </section>
  )
}

interface GroupProps {
  failure: Failure
  ask: (ask: Ask) => void
}

const FailureGroup: Component<GroupProps> = props => (
  <section class="fg">
    <header>
      <Glyph state="broken" />
      <div class="grow">
        <h3>{words.operator.failedTo(props.failure.machines.length, props.failure.step)}</h3>
        <p class="dim">{props.failure.error ?? words.operator.noError}</p>
      </div>
      <Show when={props.failure.verb}>
        {verb => (
          <button
            type="button"
            class="btn"
            disabled={!isLive()}
            onClick={() => props.ask({ verb: verb(), machines: props.failure.machines })}
          >
            {words.operator.verbAll(verb(), props.failure.machines.length)}
          </button>
        )}
      </Show>
    </header>
    <p class="help">{words.operator.helps(props.failure.step)}</p>
    <ul class="ml">
      <For each={props.failure.machines}>{machine => <FailedMachine machine={machine} ask={props.ask} />}</For>
    </ul>
  </section>
)

const ByMachine: Component<{ failures: readonly Failure[]; ask: (ask: Ask) => void }> = props => (
  <ul class="ml flat">
    <For each={props.failures.flatMap(({ machines }) => machines)}>
      {machine => <FailedMachine machine={machine} ask={props.ask} hasError />}
    </For>
  </ul>
)

const FailedMachine: Component<{ machine: Machine; ask: (ask: Ask) => void; hasError?: boolean }> = props => (
  <li>
    <a class="mono" href={`/ui/machine/${encodeURIComponent(props.machine.name ?? props.machine.uuid)}`}>
      {props.machine.name ?? props.machine.uuid}
    </a>
    <span class="dimmer cut">{props.hasError ? (props.machine.error ?? '') : props.machine.class}</span>
    <Show when={helpOf(props.machine)}>
      {verb => (
        <button
          type="button"
          class="btn small quiet"
          disabled={!isLive()}
          onClick={() => props.ask({ verb: verb(), machines: [props.machine] })}
        >
          {words.operator.verb(verb())}
        </button>
      )}
    </Show>
  </li>
)

/** Asks before a verb goes out to machines, and says of each that refused why. */
const AskVerb: Component<Ask & { close: () => void }> = props => {
  const names = () => props.machines.map(({ name, uuid }) => name ?? uuid)
  const act = async () => {
    const refused: string[] = []
    const rest = [...props.machines]
    const work = async () => {
      for (let machine = rest.shift(); machine; machine = rest.shift()) {
        const { uuid, name } = machine
        await server()
          .nodes.provision(uuid, targetOf(props.verb))
          .catch((error: unknown) => refused.push(`${name ?? uuid}: ${reasonOf(error)}`))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    const done = props.machines.length - refused.length
    if (done > 0) tell({ text: words.operator.asked(props.verb, done), kind: 'done', action: null })
    if (refused.length > 0) throw new Error(words.operator.refusedSome(refused))
    return true
  }
  return (
    <Question
      title={words.operator.askVerb(props.verb, props.machines.length)}
      verb={words.operator.verb(props.verb)}
      isDangerous={props.verb === 'undeploy'}
      act={act}
      close={props.close}
    >
      <p class="dim">{words.operator.verbDoes(props.verb)}</p>
      <p class="mono names">{names().join(', ')}</p>
    </Question>
  )
}
