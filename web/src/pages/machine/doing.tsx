// What can be done: the states as a path with the verbs under them, or the progress of one; power; what it boots from.
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Machine, MachineInFull } from '../../../../src/client/status.ts'
import { lasting, second } from '../../data/clock.ts'
import { carryOut } from '../../data/doing.ts'
import { isLive } from '../../data/live.ts'
import type { Behind } from '../../data/machine.ts'
import '../../parts/fields.css'
import { Rich } from '../../parts/rich.tsx'
import { actionOf, power } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'
import { isForbidden, pathOf, type PathVerb, workOf } from './path.ts'

interface DoingProps {
  machine: Machine
  full: MachineInFull
  behind: Behind | null
  again: () => void
}

export const Doing: Component<DoingProps> = props => {
  const verbOf = (verb: string) => props.full.verbs.find(one => one.verb === verb)
  const mayEver = (verb: string) => {
    const found = verbOf(verb)
    return found !== undefined && !isForbidden(found)
  }
  const hasTools = () => ['power', 'boot', 'maintenance'].some(mayEver)
  return (
    <section class="card pt">
      <header>
        <h2>{words.machine.what}</h2>
        <span class="dimmer">
          <Rich text={words.machine.states(props.machine.provision, props.machine.power)} />
        </span>
      </header>
      <Show when={workOf(props.machine.provision)} fallback={<Path {...props} />}>
        {work => <Progress {...props} from={work().from} to={work().to} />}
      </Show>
      <Show when={hasTools()}>
        <div class="pw">
          <Show when={mayEver('power')}>
            <Power machine={props.machine} whyNot={verbOf('power')!.why_not} />
          </Show>
          <Show when={props.behind?.boot}>
            {boot => (
              <>
                <span class="sep" />
                <BootFrom
                  machine={props.machine}
                  device={boot().device}
                  devices={boot().devices}
                  whyNot={verbOf('boot')?.why_not ?? null}
                  again={props.again}
                />
              </>
            )}
          </Show>
          <span class="grow" />
          <For each={['maintenance', 'end maintenance']}>
            {verb => <ActionButton machine={props.machine} verb={verb} />}
          </For>
        </div>
      </Show>
    </section>
  )
}

const ActionButton: Component<{ machine: Machine; verb: string }> = props => (
  <Show when={actionOf(props.verb, props.machine)}>
    {action => (
      <button type="button" class="btn" disabled={action().whyNot !== null} onClick={() => action().act()}>
        {action().text}
      </button>
    )}
  </Show>
)

const Path: Component<DoingProps> = props => {
  const path = createMemo(() => pathOf(props.machine.provision, props.full.verbs))
  return (
    <ol class="path">
      <For each={path()}>
        {(step, place) => (
          <li classList={{ here: step.isHere, failed: step.isFailed }}>
            <span class="pill" aria-current={step.isHere ? 'step' : undefined}>
              {step.state}
            </span>
            <Show when={place() < path().length - 1}>
              <i />
            </Show>
            <Show when={step.verbs.length > 0}>
              <div>
                <For each={step.verbs}>{verb => <VerbButton machine={props.machine} verb={verb} />}</For>
                <Show when={step.isHere && step.verbs.find(({ whyNot }) => whyNot !== null)}>
                  {first => <em>{first().whyNot}</em>}
                </Show>
              </div>
            </Show>
          </li>
        )}
      </For>
    </ol>
  )
}

const VerbButton: Component<{ machine: Machine; verb: PathVerb }> = props => {
  const action = () => (props.verb.whyNot === null ? actionOf(props.verb.verb, props.machine) : undefined)
  const whyNot = () => props.verb.whyNot ?? action()?.whyNot ?? null
  return (
    <button
      type="button"
      class="btn"
      disabled={action() === undefined || whyNot() !== null}
      title={whyNot() ?? undefined}
      onClick={() => action()?.act()}
    >
      {props.verb.verb}
    </button>
  )
}

const Progress: Component<DoingProps & { from: string; to: string }> = props => {
  const since = () =>
    props.full.history.find(({ what, to }) => what === 'node provision_state' && to === props.machine.provision)?.at
  const lasts = () => {
    const at = since()
    return at === undefined ? null : lasting(Math.max(0, second() - Date.parse(at)))
  }
  return (
    <div class="work" role="status">
      <ol class="path work-path">
        <li>
          <span class="pill">{props.from}</span>
          <i />
        </li>
        <li class="here">
          <span class="pill" aria-current="step">
            <svg class="g g-working" aria-hidden="true">
              <use href="#s-working" />
            </svg>
            {props.machine.provision}
          </span>
          <i />
        </li>
        <li>
          <span class="pill">{props.to}</span>
        </li>
      </ol>
      <progress aria-label={words.machine.progress} />
      <p class="dim">
        <Rich text={words.machine.atWork(props.machine.verb ?? props.machine.provision, null)} />
        <Show when={lasts()}>{text => <span aria-hidden="true">, {text()}</span>}</Show>
        <For each={['abort', 'undeploy']}>{verb => <ActionButton machine={props.machine} verb={verb} />}</For>
      </p>
    </div>
  )
}

const Power: Component<{ machine: Machine; whyNot: string | null }> = props => {
  const isOn = () => props.machine.power === 'power on'
  const whyNot = () => (isLive() ? props.whyNot : words.doing.offline)
  const turn = (target: 'on' | 'off') => {
    if (isOn() !== (target === 'on')) power([props.machine], target)
  }
  const Side = (side: { target: 'on' | 'off'; text: string }) => (
    <button
      type="button"
      aria-pressed={isOn() === (side.target === 'on')}
      disabled={whyNot() !== null}
      title={whyNot() ?? undefined}
      onClick={() => turn(side.target)}
    >
      {side.text}
    </button>
  )
  const noReboot = () => whyNot() ?? (isOn() ? null : words.machine.isOff)
  return (
    <>
      <span class="dimmer">{words.machine.power}</span>
      <span class="seg" role="group" aria-label={words.machine.power}>
        <Side target="on" text={words.machine.on} />
        <Side target="off" text={words.machine.off} />
      </span>
      <button
        type="button"
        class="btn"
        disabled={noReboot() !== null}
        title={noReboot() ?? undefined}
        onClick={() => power([props.machine], 'reboot')}
      >
        {words.machine.reboot}
      </button>
    </>
  )
}

interface BootProps {
  machine: Machine
  device: string | null
  devices: readonly string[]
  whyNot: string | null
  again: () => void
}

const BootFrom: Component<BootProps> = props => {
  const set = async (device: string) => {
    const { uuid, name } = props.machine
    const before = props.device
    await carryOut({
      said: words.machine.bootSet(name ?? uuid, device),
      act: ({ nodes }) => nodes.setBootDevice(uuid, device),
      ...(before !== null && {
        undo: async ({ nodes }) => {
          await nodes.setBootDevice(uuid, before)
          props.again()
        },
      }),
    })
    props.again()
  }
  return (
    <label class="tools">
      <span class="dimmer">{words.machine.bootFrom}</span>
      <select
        class="field slim"
        disabled={!isLive() || props.whyNot !== null}
        title={props.whyNot ?? undefined}
        onChange={({ target }) => void set(target.value)}
      >
        <Show when={props.device === null}>
          <option value="" selected disabled>
            {words.machine.bootUnsaid}
          </option>
        </Show>
        <For each={props.devices}>
          {device => (
            <option value={device} selected={device === props.device}>
              {device}
            </option>
          )}
        </For>
      </select>
    </label>
  )
}
