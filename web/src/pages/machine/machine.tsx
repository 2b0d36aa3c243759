// One machine: who has it, what can be done with it, what happened to it, and what it is.
import './machine.css'
import { useNavigate, useParams } from '@solidjs/router'
import { type Component, createMemo, Show } from 'solid-js'
import type { Machine, MachineInFull } from '../../../../src/client/status.ts'
import { fleet } from '../../data/fleet.ts'
import { machinePath } from '../../data/machine-href.ts'
import { useKeys } from '../../data/keys.ts'
import { createMachine, type MachineLooked } from '../../data/machine.ts'
import { Empty, Patience } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { actionOf } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'
import { Console } from './console.tsx'
import { Doing } from './doing.tsx'
import { Facts } from './facts.tsx'
import { Head } from './head.tsx'
import { History } from './history.tsx'
import { Strip } from './strip.tsx'

const MachinePage: Component = () => {
  const params = useParams<{ name: string }>()
  const looked = createMachine(() => params.name)
  useMachineKeys(() => params.name)
  return (
    <div class="page p-machine">
      <Show when={!looked.isMissing()} fallback={<Missing name={params.name} />}>
        <Show when={looked.full()} fallback={<Loading looked={looked} />}>
          {full => <Found full={full()} looked={looked} />}
        </Show>
      </Show>
    </div>
  )
}

const Missing: Component<{ name: string }> = props => (
  <Empty title={words.machine.missing(props.name)} text={words.machine.missingHelp}>
    <a class="btn" href="/ui/now">
      {words.shell.toNow}
    </a>
  </Empty>
)

const Loading: Component<{ looked: MachineLooked }> = props => (
  <Show when={props.looked.refusal()} fallback={<Patience />}>
    {reason => (
      <Empty title={words.shell.refusedLoad} text={reason()}>
        <button type="button" class="btn" onClick={() => props.looked.again()}>
          {words.shell.tryAgain}
        </button>
      </Empty>
    )}
  </Show>
)

const Found: Component<{ full: MachineInFull; looked: MachineLooked }> = props => {
  // The row of the fleet is newer: it arrives by itself.
  const machine = createMemo(() => fleet.machine(props.full.machine.uuid) ?? props.full.machine)
  return (
    <>
      <Crumbs machine={machine()} />
      <Head machine={machine()} />
      <Strip machine={machine()} spans={props.full.spans} />
      <div class="cols">
        <div class="main">
          <Doing machine={machine()} full={props.full} behind={props.looked.behind()} again={props.looked.again} />
          <Show when={machine().may.includes('power') && props.looked.behind()?.hasConsole}>
            <Console machine={machine()} />
          </Show>
          <History history={props.full.history} />
        </div>
        <aside>
          <Facts machine={machine()} full={props.full} behind={props.looked.behind()} />
        </aside>
      </div>
    </>
  )
}

const Crumbs: Component<{ machine: Machine }> = props => (
  <nav class="crumb" aria-label={words.machine.where}>
    <a href="/ui/now">{words.shell.now}</a>
    <Icon name="right" />
    <Show when={props.machine.rack}>
      {rack => (
        <>
          <a href={`/ui/now?q=${encodeURIComponent(rack())}`}>{rack()}</a>
          <Icon name="right" />
        </>
      )}
    </Show>
    <span aria-current="page">{props.machine.name ?? props.machine.uuid}</span>
    <span class="grow" />
    <span class="dimmer neighbours">
      <kbd>K</kbd> <kbd>J</kbd> {words.machine.neighbours}
    </span>
  </nav>
)

/** J and K lead through the fleet as Now lists it; E, N and M are what is done most. */
function useMachineKeys(name: () => string): void {
  const navigate = useNavigate()
  const step = (by: number) => {
    const all = fleet.machines()
    const at = all.findIndex(one => one.name === name() || one.uuid === name())
    const to = all[at + by]
    if (at >= 0 && to) navigate(machinePath(to))
  }
  const act = (verb: string) => () => {
    const machine = fleet.called(name())
    const action = machine && actionOf(verb, machine)
    if (action && action.whyNot === null) action.act()
  }
  useKeys(words.machine.keys, [
    { keys: 'j', words: words.machine.next, act: () => step(1) },
    { keys: 'k', words: words.machine.previous, act: () => step(-1) },
    { keys: 'e', words: words.machine.extend, act: act('extend') },
    { keys: 'n', words: words.machine.note, act: act('note') },
    { keys: 'm', words: words.machine.maintenance, act: act('maintenance') },
  ])
}

export default MachinePage
