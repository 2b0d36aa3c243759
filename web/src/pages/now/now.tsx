// Now: the fleet at this moment, by rack, class or project, as tiles or as a table.
import './now.css'
import './tiles.css'
import {
  type Component,
  createEffect,
  createMemo,
  createSignal,
  lazy,
  Match,
  onCleanup,
  Show,
  Suspense,
  Switch,
} from 'solid-js'
import { fleet } from '../../data/fleet.ts'
import { Patience } from '../../parts/empty.tsx'
import { words } from '../../words.ts'
import { Chips, ClassCards } from './chips.tsx'
import { NoFleet, NoMatch } from './nothing.tsx'
import { createProbe, tileSizes } from './sizes.ts'
import { Table } from './table.tsx'
import { Tiles } from './tiles.tsx'
import { Toolbar } from './toolbar.tsx'
import { createFrozen, createView, type Frozen } from './view.ts'

const AddMachine = lazy(() => import('./add-machine.tsx'))

const Now: Component = () => {
  const view = createView()
  const [current, setCurrent] = createSignal<string | null>(null)
  const frozen = createFrozen(view, current)
  const probe = createProbe()
  const sizes = createMemo(() => tileSizes(probe.sizes(), view.grouping(), view.isWall()))
  createEffect(() => document.documentElement.toggleAttribute('data-wall', view.isWall()))
  onCleanup(() => document.documentElement.removeAttribute('data-wall'))
  const [isAdding, setIsAdding] = createSignal(false)
  const add = () => setIsAdding(true)
  const lead = () => words.now.lead(view.survey().free, view.survey().of)
  return (
    <div class="page p-now">
      <div ref={probe.measure} class="probe" aria-hidden="true">
        <i />
      </div>
      <Show when={fleet.isLoaded()} fallback={<Skeleton />}>
        <div class="sum">
          <h1 class="lead">
            <b>{lead()[0]}</b>
            {lead()[1]}
          </h1>
          <Chips view={view} />
        </div>
        <Show when={fleet.machines().length > 0 || fleet.hosts().length > 0} fallback={<NoFleet add={add} />}>
          <ClassCards view={view} />
          <Toolbar view={view} add={add} />
          <Switch>
            <Match when={view.survey().shown.length === 0 && view.isFiltered()}>
              <NoMatch view={view} />
            </Match>
            <Match when={true}>
              <div ref={frozen.watch}>
                <Pill frozen={frozen} />
                <Show
                  when={view.view() === 'tiles'}
                  fallback={
                    <Table
                      view={view}
                      frozen={frozen}
                      rowPx={probe.sizes().row}
                      width={probe.sizes().width}
                      setCurrent={setCurrent}
                    />
                  }
                >
                  <Tiles view={view} frozen={frozen} sizes={sizes()} current={current()} setCurrent={setCurrent} />
                </Show>
              </div>
            </Match>
          </Switch>
        </Show>
      </Show>
      <Show when={isAdding()}>
        <Suspense>
          <AddMachine close={() => setIsAdding(false)} />
        </Suspense>
      </Show>
    </div>
  )
}

/** Says that the order would be another by now, and shows it when asked. */
const Pill: Component<{ frozen: Frozen }> = props => (
  <Show when={props.frozen.waiting() > 0}>
    <div class="wait-pill" role="status">
      {words.now.changesWait(props.frozen.waiting())}
      <button type="button" onClick={() => props.frozen.show()}>
        {words.now.showChanges}
      </button>
    </div>
  </Show>
)

const Skeleton: Component = () => (
  <Patience>
    <i />
    <i />
    <i />
    <i />
    <i />
    <i />
  </Patience>
)

export default Now
