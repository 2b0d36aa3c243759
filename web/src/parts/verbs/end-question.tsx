// Releases what one has, or takes back what another has. It can't be undone, so it is a question that names what the dry
// run says it touches.
import { type Component, createMemo, createResource, createSignal, For, Show } from 'solid-js'
import type { Allocation, Holdfast } from '../../../../src/client/index.ts'
import type { Machine } from '../../../../src/client/status.ts'
import { when } from '../../data/clock.ts'
import { reasonOf } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { server } from '../../data/session.ts'
import { list, words } from '../../words.ts'
import { Refusal } from '../sheet.tsx'
import { actionOf } from './actions.ts'
import { called, nameOf, onAll } from './deeds.ts'
import { Form } from './form.tsx'
import { type Had, hadOf, withTimes } from './promises.ts'

interface EndProps {
  machines: readonly Machine[]
  close: () => void
}

/** What the dry run says of one of them. */
interface Rehearsed {
  had: Had
  /** The names of all machines that it touches. */
  machines: string[]
  /** Whoever runs a command there; nobody else is told. */
  keeper: string | null
  until: string | null
  /** What is deployed is undeployed, and that ends it. */
  isUndeployed: boolean
  whyNot: string | null
}

/** So many are tried before. The rest is told afterwards. */
const TRIED_MAX = 24
/** So many are seen without scrolling. */
const SEEN_MAX = 6

export const EndQuestion: Component<EndProps> = props => {
  const had = hadOf(props.machines, 'release', 'kick')
  const deployed = had.filter(isDeployed).flatMap(({ machines }) => machines).length
  const isKick = props.machines.some(({ may }) => may.includes('kick'))
  const [message, setMessage] = createSignal('')
  const [isNow, setIsNow] = createSignal(false)
  const [rehearsed] = createResource(() =>
    Promise.all(had.slice(0, TRIED_MAX).map(one => rehearse(server(), one, isKick))),
  )
  const all = () => rehearsed.latest ?? []
  const kept = createMemo(() => all().filter(({ keeper }) => keeper !== null))
  const refused = createMemo(() => all().filter(({ whyNot }) => whyNot !== null))
  const needsMessage = () => isKick && kept().length > 0
  const isReady = () =>
    rehearsed.state === 'ready' && refused().length < had.length && (!needsMessage() || message().trim() !== '')

  const act = () => {
    const farewell = { message: message().trim() || undefined, now: isNow() || undefined }
    const fitting = had.filter(one => !refused().some(({ had: other }) => other === one))
    // Whoever keeps it has it still, and is asked.
    const isAsked = isKick && !isNow() && kept().length === had.length
    return onAll(fitting, {
      said: isAsked ? words.verbs.askedBack : isKick ? words.verbs.tookBack : words.verbs.released,
      act: async (at, one) => {
        const tried = all().find(({ had: other }) => other === one) ?? (await rehearse(at, one, isKick))
        if (tried.whyNot !== null) throw new Error(tried.whyNot)
        return tried.isUndeployed ? undeploy(at, one) : end(at, one, isKick ? farewell : {})
      },
    })
  }

  return (
    <Form
      title={titleOf(had, props.machines, isKick)}
      verb={isKick ? words.verbs.takeBack : words.verbs.release}
      isDangerous
      isReady={isReady()}
      act={act}
      close={props.close}
    >
      <Show when={had.length > SEEN_MAX && deployed > 0}>
        <p class="strong">{words.verbs.deployedOf(deployed, props.machines.length)}</p>
      </Show>
      <Show when={refused().length < had.length}>
        <ul class="touched" tabindex={had.length > SEEN_MAX ? 0 : undefined} aria-label={words.verbs.touches}>
          <For each={all().filter(({ whyNot }) => whyNot === null)}>{one => <li>{sentenceOf(one, isKick)}</li>}</For>
        </ul>
      </Show>
      <For each={refused()}>
        {({ had: one, whyNot }) => (
          <>
            <Refusal words={withTimes(had.length > 1 ? `${one.name}: ${whyNot}` : whyNot!, when)} />
            <Help machines={one.machines} />
          </>
        )}
      </For>
      <Show when={needsMessage()}>
        <label class="stacked">
          {words.verbs.message(list(kept().map(({ keeper }) => keeper!)))}
          <input
            ref={element => queueMicrotask(() => element.focus())}
            class="field"
            maxlength="255"
            onInput={({ target }) => setMessage(target.value)}
          />
        </label>
        <label class="check">
          <input type="checkbox" onChange={({ target }) => setIsNow(target.checked)} />
          <span>
            {words.verbs.atOnce}
            <br />
            <span class="dimmer">{words.verbs.atOnceMeans}</span>
          </span>
        </label>
      </Show>
    </Form>
  )
}

/** A machine that is deployed must be undeployed first. */
const Help: Component<{ machines: readonly Machine[] }> = props => (
  <Show when={actionOf('undeploy', props.machines)}>
    {undeploy => (
      <p>
        <button type="button" class="btn small" onClick={() => undeploy().act()}>
          {undeploy().text}
        </button>
      </p>
    )}
  </Show>
)

function titleOf(had: readonly Had[], machines: readonly Machine[], isKick: boolean): string {
  const [first] = machines
  const what = had.length === 1 && had[0]!.machines.length > 1 ? had[0]!.name : called(machines)
  const whos = new Set(machines.map(({ who }) => who))
  const who = whos.size === 1 ? (first?.who ?? null) : null
  return isKick ? words.verbs.takeBackFrom(what, who) : words.verbs.releaseOf(what)
}

function sentenceOf({ had, machines, keeper, until, isUndeployed }: Rehearsed, isKick: boolean): string {
  const names = machines.length === 0 ? called(had.machines) : list(machines)
  if (isUndeployed) return words.verbs.endsUndeployed(had.name, names)
  const ends = words.verbs.ends(had.name, names, had.kind === 'lease')
  if (!isKick) return ends
  if (keeper === null) return `${ends} ${words.verbs.nobodyTold}`
  return words.verbs.isTold(keeper, until === null ? null : when(until))
}

const isDeployed = ({ kind, machines }: Had) =>
  kind === 'allocation' && machines.every(({ may }) => may.includes('undeploy'))

async function rehearse(at: Holdfast, had: Had, isKick: boolean): Promise<Rehearsed> {
  const none = { had, machines: [], keeper: null, until: null, isUndeployed: false, whyNot: null }
  const allocation = had.kind === 'allocation' ? await keptOf(at, had.id) : null
  const kept = { keeper: allocation?.keeper ?? null, until: allocation?.expires_at ?? null }
  // An allocation can't be ended under what is deployed; undeploying ends it, unless somebody keeps it.
  if (isDeployed(had) && kept.keeper === null) return { ...none, isUndeployed: true }
  try {
    const objects = await touchedBy(at, had, isKick)
    const touched = objects.filter(({ kind }) => kind === 'node').map(({ id }) => fleet.machine(id))
    return { ...none, ...kept, machines: touched.flatMap(machine => (machine ? [nameOf(machine)] : [])) }
  } catch (error) {
    return { ...none, ...kept, whyNot: reasonOf(error) }
  }
}

const undeploy = ({ nodes }: Holdfast, { machines }: Had) =>
  Promise.all(machines.map(({ uuid }) => nodes.provision(uuid, 'deleted')))

const keptOf = ({ allocations }: Holdfast, id: string): Promise<Allocation | null> =>
  allocations.show(id, ['keeper', 'expires_at']).catch(() => null)

async function touchedBy({ allocations, leases }: Holdfast, { kind, id }: Had, isKick: boolean) {
  // Whoever keeps it is asked with a message: any will do to try.
  if (kind === 'allocation') return (await allocations.explainDeletion(id, isKick ? { message: '-' } : {})).objects
  return kind === 'lease' ? (await leases.explainDeletion(id)).objects : []
}

interface Farewell {
  message?: string | undefined
  now?: boolean | undefined
}

/** By its id: if the machine has gone to someone else meanwhile, they are left alone. */
function end({ allocations, leases, reservations, servers }: Holdfast, { kind, id }: Had, farewell: Farewell) {
  if (kind === 'allocation') return allocations.delete(id, farewell)
  if (kind === 'lease') return leases.delete(id)
  return kind === 'hold' ? reservations.delete(id) : servers.delete(id)
}
