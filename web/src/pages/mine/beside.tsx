// What I wait for, what I have booked, what is held for me.
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Lease } from '../../../../src/client/leases.ts'
import type { Machine, Waiting } from '../../../../src/client/status.ts'
import { lasting, minute, when } from '../../data/clock.ts'
import { machineHref } from '../../data/machine-href.ts'
import { fleet } from '../../data/fleet.ts'
import { createKept } from '../../data/kept.ts'
import { server } from '../../data/session.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { When } from '../../parts/time.tsx'
import { nth, words } from '../../words.ts'
import { ahead, runs, whatIn } from './leases.ts'

export const Waits: Component = () => {
  const mine = createMemo(() => fleet.waiting().filter(({ mine: isMine }) => isMine))
  return (
    <Show when={mine().length > 0}>
      <section class="card sd">
        <header>
          <h2>{words.mine.waiting}</h2>
          <a class="btn small quiet" href="/ui/queue">
            {words.shell.queue}
          </a>
        </header>
        <ul>
          <For each={mine()}>{one => <WaitLine waiting={one} />}</For>
        </ul>
      </section>
    </Show>
  )
}

function howLong({ for: until, start }: Waiting): string | null {
  if (until === null) return null
  return start === null
    ? words.mine.untilWhen(when(until))
    : words.mine.forLong(lasting(Date.parse(until) - Date.parse(start)))
}

const WaitLine: Component<{ waiting: Waiting }> = props => (
  <li>
    <Show when={props.waiting.place}>{place => <span class="pos">{nth(place())}</span>}</Show>
    <span class="grow cut">
      <b class="med">{props.waiting.name ?? props.waiting.class}</b>
      <br />
      <span class="dimmer">{words.mine.wants(props.waiting.count, props.waiting.class, howLong(props.waiting))}</span>
    </span>
    <span class="right nowrap">
      <Show when={props.waiting.state === 'waiting'} fallback={<span class="dim">{words.mine.gaveUp}</span>}>
        <Show when={props.waiting.start} fallback={<span class="dim">{words.mine.unknownStart}</span>}>
          {start => (
            <>
              <When at={start()} />
              <br />
              <span class="dimmer">{words.mine.likely}</span>
            </>
          )}
        </Show>
      </Show>
    </span>
  </li>
)

export const Booked: Component = () => {
  const leases = createKept(({ leases: all }) => all.list())
  const mine = createMemo(() => ahead(leases.value() ?? [], server().user, minute()))
  return (
    <Show when={mine().length > 0}>
      <section class="card sd">
        <header>
          <h2>{words.mine.booked}</h2>
          <a class="btn small quiet" href="/ui/calendar">
            {words.shell.calendar}
          </a>
        </header>
        <ul>
          <For each={mine()}>{lease => <LeaseLine lease={lease} />}</For>
        </ul>
      </section>
    </Show>
  )
}

const LeaseLine: Component<{ lease: Lease & { start: number; end: number } }> = props => {
  const isOn = () => runs(props.lease, minute())
  return (
    <li>
      <Glyph state={isOn() ? 'taken' : 'booked'} />
      <span class="grow cut">
        <b class="med">{props.lease.name}</b>
        <br />
        <span class="dimmer">{whatIn(props.lease)}</span>
      </span>
      <span class="right nowrap">
        {isOn() ? words.mine.untilWhen(when(props.lease.end)) : when(props.lease.start)}
        <br />
        <span class="dimmer">
          {isOn() ? words.mine.runs : words.mine.forLong(lasting(props.lease.end - props.lease.start))}
        </span>
      </span>
    </li>
  )
}

export const Held: Component<{ machines: readonly Machine[] }> = props => {
  // Those that end within the same minute are told together.
  const byEnd = createMemo(() => [...Map.groupBy(props.machines, ({ until }) => (until ?? '').slice(0, 16))])
  return (
    <Show when={props.machines.length > 0}>
      <section class="card sd">
        <header>
          <h2>{words.mine.held}</h2>
        </header>
        <For each={byEnd()}>
          {([until, machines]) => (
            <p class="pp dim">
              {words.mine.heldUntil(machines.length, when(`${until}Z`))}{' '}
              <For each={machines}>
                {(machine, place) => (
                  <>
                    <a class="mono" href={machineHref(machine)}>
                      {machine.name ?? machine.uuid}
                    </a>
                    {place() < machines.length - 1 ? ', ' : ''}
                  </>
                )}
              </For>
            </p>
          )}
        </For>
      </section>
    </Show>
  )
}
