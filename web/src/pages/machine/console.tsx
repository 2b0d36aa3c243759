// The console of a machine. The terminal itself is loaded when it is opened.
import { type Component, createSignal, lazy, Show, Suspense } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { Patience } from '../../parts/empty.tsx'
import { words } from '../../words.ts'

const Terminal = lazy(() => import('./terminal.tsx'))

export const Console: Component<{ machine: Machine }> = props => {
  const [isOpen, setIsOpen] = createSignal(false)
  return (
    <section class="card pt console">
      <header>
        <h2>{words.machine.console.title}</h2>
        <button type="button" class="btn small" aria-expanded={isOpen()} onClick={() => setIsOpen(is => !is)}>
          {isOpen() ? words.machine.console.close : words.machine.console.open}
        </button>
      </header>
      <Show when={isOpen() && props.machine.uuid} keyed>
        {uuid => (
          <Suspense fallback={<Patience />}>
            <Terminal uuid={uuid} name={props.machine.name ?? uuid} />
          </Suspense>
        )}
      </Show>
    </section>
  )
}
