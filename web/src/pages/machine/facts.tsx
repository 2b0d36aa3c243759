// What it is made of, how to reach it, and whose it is.
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Machine, MachineInFull } from '../../../../src/client/status.ts'
import { type Behind, linkIn } from '../../data/machine.ts'
import { CopyButton, CopyLine } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { traitShown } from '../../parts/trait.ts'
import { type Action, actionOf } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'
import { hardwareOf } from './hardware.ts'
import { isForbidden } from './path.ts'

interface FactsProps {
  machine: Machine
  full: MachineInFull
  behind: Behind | null
}

export const Facts: Component<FactsProps> = props => (
  <>
    <Hardware {...props} />
    <Reach {...props} />
    <Whose {...props} />
  </>
)

const Small: Component<{ action: Action | undefined; text: string; icon?: 'plus' }> = props => (
  <Show when={props.action}>
    {action => (
      <button
        type="button"
        class="btn small quiet"
        aria-label={`${props.text}: ${action().text}`}
        disabled={action().whyNot !== null}
        onClick={() => action().act()}
      >
        <Show when={props.icon}>{icon => <Icon name={icon()} />}</Show>
        {props.text}
      </button>
    )}
  </Show>
)

const Hardware: Component<FactsProps> = props => {
  const rows = createMemo(() => hardwareOf(props.full.hardware, props.behind?.inventory ?? {}))
  const traits = createMemo(() => props.full.traits.toSorted())
  return (
    <section class="card kv">
      <header>
        <h2>{words.machine.hardware.title}</h2>
      </header>
      <dl>
        <Show when={props.machine.class}>
          {name => (
            <>
              <dt>{words.machine.hardware.class}</dt>
              <dd>{name()}</dd>
            </>
          )}
        </Show>
        <For each={rows()}>
          {([word, value]) => (
            <>
              <dt>{word}</dt>
              <dd>{value}</dd>
            </>
          )}
        </For>
      </dl>
      <Show when={rows().length === 0}>
        <p class="dim">{words.machine.hardware.none}</p>
      </Show>
      <div class="traits">
        <For each={traits()}>{trait => <span title={trait}>{traitShown(trait)}</span>}</For>
        <Small action={actionOf('traits', props.machine)} text={words.machine.hardware.trait} icon="plus" />
      </div>
    </section>
  )
}

const PORTS_MAX = 4

const Reach: Component<FactsProps> = props => {
  const name = () => props.machine.name ?? props.machine.uuid
  const line = () => {
    const { may, mine, provision } = props.machine
    if (mine && provision === 'active') return `ssh ${name()}`
    return may.includes('deploy') ? `holdfast node deploy ${name()} --wait` : `holdfast node show ${name()}`
  }
  return (
    <section class="card kv">
      <header>
        <h2>{words.machine.reach.title}</h2>
      </header>
      <CopyLine text={line()} />
      <dl>
        <Show when={props.behind?.bmc}>
          {address => (
            <>
              <dt>{words.machine.reach.bmc}</dt>
              <dd>
                <Address address={address()} />
                <Show when={props.behind?.console}>
                  {href => (
                    <a class="btn small" href={href()} target="_blank" rel="noopener noreferrer">
                      {words.machine.reach.console}
                    </a>
                  )}
                </Show>
              </dd>
            </>
          )}
        </Show>
        <Show when={props.behind?.address}>
          {address => (
            <>
              <dt>{words.machine.reach.address}</dt>
              <dd class="mono">{address()}</dd>
            </>
          )}
        </Show>
        <For each={props.full.ports.slice(0, PORTS_MAX)}>
          {port => (
            <>
              <dt>{words.machine.reach.port}</dt>
              <dd>
                <span class="mono">{port.address}</span>
                <span class="dimmer cut">{port.name ?? port.physical_network}</span>
              </dd>
            </>
          )}
        </For>
        <Show when={props.full.ports.length > PORTS_MAX}>
          <dt />
          <dd class="dimmer">{words.machine.reach.ports(props.full.ports.length - PORTS_MAX)}</dd>
        </Show>
      </dl>
    </section>
  )
}

/** Some BMCs are known by a web address. */
const Address: Component<{ address: string }> = props => (
  <Show when={linkIn(props.address)} fallback={<span class="mono">{props.address}</span>}>
    {href => (
      <a class="mono u cut" href={href()} target="_blank" rel="noopener noreferrer">
        {props.address}
      </a>
    )}
  </Show>
)

const Whose: Component<FactsProps> = props => {
  // Who may not change anything about the machine itself needs no driver.
  const isKept = () => props.full.verbs.some(one => one.verb === 'maintenance' && !isForbidden(one))
  return (
    <section class="card kv">
      <header>
        <h2>{words.machine.whose.title}</h2>
      </header>
      <dl>
        <Show when={props.machine.owner !== null || isKept()}>
          <dt>{words.machine.whose.owner}</dt>
          <dd>{props.machine.owner ?? words.machine.whose.nobody}</dd>
        </Show>
        <Show when={props.machine.lessee}>
          {lessee => (
            <>
              <dt>{words.machine.whose.lessee}</dt>
              <dd>{lessee()}</dd>
            </>
          )}
        </Show>
        <dt>{words.machine.whose.bookable}</dt>
        <dd>
          {props.machine.bookable ? words.machine.whose.yes : words.machine.whose.no}
          <Small
            action={actionOf('make bookable', props.machine) ?? actionOf('not bookable', props.machine)}
            text={words.machine.change}
          />
        </dd>
        <Show when={isKept() && props.behind?.driver}>
          {driver => (
            <>
              <dt>{words.machine.whose.driver}</dt>
              <dd>{driver()}</dd>
            </>
          )}
        </Show>
        <Show when={isKept() && props.behind?.conductor}>
          {conductor => (
            <>
              <dt>{words.machine.whose.conductor}</dt>
              <dd>{conductor()}</dd>
            </>
          )}
        </Show>
        <dt>{words.machine.whose.id}</dt>
        <dd>
          <span class="mono cut">{props.machine.uuid}</span>
          <CopyButton text={props.machine.uuid} label={words.machine.whose.copyId} />
        </dd>
      </dl>
    </section>
  )
}
