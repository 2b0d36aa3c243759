// "It's your turn": over every page, until it is seen.
import { type Component, For } from 'solid-js'
import { when } from '../data/clock.ts'
import { fleet } from '../data/fleet.ts'
import { machineHref } from '../data/machine-href.ts'
import { seen, served, useTurns } from '../data/turns.ts'
import { words } from '../words.ts'
import { Glyph } from './glyph.tsx'

export const Turn: Component = () => {
  useTurns()
  return (
    <div class="turns" role="status">
      <For each={served()}>
        {({ uuid, name, machine }) => {
          const has = () => fleet.machine(machine)
          const called = () => has()?.name ?? machine.slice(0, 8)
          const until = () => has()?.until ?? null
          return (
            <p class="turn">
              <Glyph state="taken" />
              <span class="grow">
                <b>{words.queue.turn}</b> {words.queue.turnOf(name, called(), until() === null ? null : when(until()!))}
              </span>
              <a
                class="btn small"
                href={machineHref({ name: has()?.name ?? null, uuid: machine })}
                onClick={() => seen(uuid)}
              >
                {words.queue.toMachine(called())}
              </a>
              <button type="button" class="btn small quiet" onClick={() => seen(uuid)}>
                {words.queue.seen}
              </button>
            </p>
          )
        }}
      </For>
    </div>
  )
}
