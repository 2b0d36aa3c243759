// Questions before what can't be taken back: what is written to disks, power under someone's feet, deletions.
import { type Component, createResource, createSignal, For, Show } from 'solid-js'
import type { Verb } from '../../../../src/client/nodes.ts'
import type { Machine } from '../../../../src/client/status.ts'
import { reasonOf } from '../../data/doing.ts'
import { server } from '../../data/session.ts'
import { words } from '../../words.ts'
import { Refusal, Sheet } from '../sheet.tsx'
import { powerDeed } from './actions.ts'
import type { AskedVerb, Failure, PowerTarget } from './asked.ts'
import { called, onEach } from './deeds.ts'
import { Form } from './form.tsx'

interface QuestionProps {
  machines: readonly Machine[]
  close: () => void
}

const TARGETS: Readonly<Record<AskedVerb, Verb>> = {
  deploy: 'active',
  rebuild: 'rebuild',
  undeploy: 'deleted',
  rescue: 'rescue',
}

export const ProvisionQuestion: Component<QuestionProps & { verb: AskedVerb }> = props => {
  const [password, setPassword] = createSignal('')
  const isRescue = () => props.verb === 'rescue'
  const act = () =>
    onEach(props.machines, {
      said: what => words.verbs.underWay(what, props.verb),
      act: ({ nodes }, { machine }) =>
        nodes.provision(machine.uuid, TARGETS[props.verb], isRescue() ? { rescue_password: password() } : {}),
    })
  return (
    <Form
      title={words.verbs.provisionOf(words.verbs.bare[props.verb], called(props.machines))}
      verb={words.verbs.bare[props.verb]}
      isDangerous={props.verb === 'undeploy' || props.verb === 'rebuild'}
      isReady={!isRescue() || password() !== ''}
      act={act}
      close={props.close}
    >
      <p class="dim">{words.verbs.means[props.verb]}</p>
      <Whose machines={props.machines} />
      <Show when={isRescue()}>
        <label class="stacked">
          {words.verbs.rescuePassword}
          <input
            ref={element => queueMicrotask(() => element.focus())}
            class="field"
            type="password"
            autocomplete="new-password"
            onInput={({ target }) => setPassword(target.value)}
          />
        </label>
      </Show>
    </Form>
  )
}

export const PowerQuestion: Component<QuestionProps & { target: PowerTarget }> = props => (
  <Form
    title={words.verbs.provisionOf(words.verbs.power[props.target], called(props.machines))}
    verb={words.verbs.power[props.target]}
    isDangerous
    act={() => onEach(props.machines, powerDeed(props.target))}
    close={props.close}
  >
    <p class="dim">{words.verbs.powerMeans}</p>
    <Whose machines={props.machines} />
  </Form>
)

/** Who would feel it. */
const Whose: Component<{ machines: readonly Machine[] }> = props => {
  const others = () => props.machines.filter(({ kind, mine }) => kind !== null && !mine)
  return (
    <Show when={others().length > 0}>
      <ul class="touched">
        <For each={others().slice(0, 8)}>{machine => <li>{words.verbs.has(machine)}</li>}</For>
      </ul>
    </Show>
  )
}

export const DeleteQuestion: Component<QuestionProps> = props => {
  const [touched] = createResource(async () => {
    if (props.machines.length > 1) return { counts: [], whyNot: null }
    try {
      const { objects } = await server().nodes.explainDeletion(props.machines[0]!.uuid)
      const kinds = Map.groupBy(objects, ({ kind }) => kind)
      return { counts: [...kinds].map(([kind, some]) => words.verbs.kinds(kind, some.length)), whyNot: null }
    } catch (error) {
      return { counts: [], whyNot: reasonOf(error) }
    }
  })
  const act = () =>
    onEach(props.machines, {
      said: words.verbs.deleted,
      act: ({ nodes }, { machine }) => nodes.delete(machine.uuid),
    })
  return (
    <Form
      title={words.verbs.deleteOf(called(props.machines))}
      verb={words.verbs.delete}
      isDangerous
      isReady={touched.state === 'ready' && touched().whyNot === null}
      act={act}
      close={props.close}
    >
      <p class="dim">{words.verbs.deleteMeans}</p>
      <Show when={touched()?.counts.length}>
        <ul class="touched">
          <For each={touched()!.counts}>{text => <li>{text}</li>}</For>
        </ul>
      </Show>
      <Refusal words={touched()?.whyNot ?? null} />
    </Form>
  )
}

interface ReportProps {
  title: string
  failed: readonly Failure[]
  close: () => void
}

/** What couldn't be done with some of many, and why. */
export const Report: Component<ReportProps> = props => (
  <Sheet title={props.title} at="middle" close={props.close}>
    <ul class="report">
      <For each={props.failed}>
        {({ name, why }) => (
          <li>
            <b class="mono">{name}</b> <span class="dim">{why}</span>
          </li>
        )}
      </For>
    </ul>
    <div class="tools end">
      <button type="button" class="btn primary" onClick={() => props.close()}>
        {words.doing.close}
      </button>
    </div>
  </Sheet>
)
