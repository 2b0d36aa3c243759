// What there is: totals, and the trees of hosts or the machines.
import { type Component, createMemo, createSignal, Match, Show, Switch } from 'solid-js'
import { filteredTrees, rowsOf } from '../../data/capacity-tree.ts'
import { fleet } from '../../data/fleet.ts'
import { words } from '../../words.ts'
import { columnsFor } from './columns.ts'
import type { Capacity } from './known.ts'
import { Machines } from './machines.tsx'
import { Tree } from './tree.tsx'
import { Totals } from './use.tsx'

const PAGE = words.capacity

interface SupplyProps {
  capacity: Capacity
  marks: ReadonlyMap<string, string>
  tab: 'hosts' | 'machines'
  filter: string
  set: (change: { tab?: string; q?: string }) => void
}

export const Supply: Component<SupplyProps> = props => {
  const [opened, setOpened] = createSignal<ReadonlySet<string>>(new Set())
  const isFiltered = () => props.filter.trim() !== ''
  const trees = createMemo(() => filteredTrees(props.capacity.hosts(), props.filter))
  const isOpen = (uuid: string) => isFiltered() !== opened().has(uuid)
  const setOpen = (uuid: string, open: boolean) => {
    const next = new Set(opened())
    // While it is filtered all is open, and the set has those that are folded.
    if (open === isFiltered()) next.delete(uuid)
    else next.add(uuid)
    setOpened(next)
  }
  const parents = createMemo(() => {
    const all = rowsOf(trees(), () => true)
    return all.filter(({ children }) => children.length > 0).map(({ provider }) => provider.uuid)
  })
  const areAllOpen = () => parents().length > 0 && parents().every(isOpen)
  const openAll = () => setOpened(new Set(areAllOpen() === isFiltered() ? parents() : []))
  const rows = createMemo(() => rowsOf(trees(), isOpen))
  const columns = createMemo(() => columnsFor(new Set(props.capacity.totals().map(([name]) => name))))
  const machines = createMemo(() => {
    const sought = props.filter.trim().toLowerCase()
    return fleet
      .machines()
      .filter(
        machine =>
          sought === '' ||
          [machine.name ?? '', machine.uuid, machine.class ?? '', machine.state, ...fleet.traitsOf(machine)].some(
            text => text.toLowerCase().includes(sought),
          ),
      )
  })
  const isHosts = () => props.tab === 'hosts'
  const filter = (q: string) => {
    setOpened(new Set<string>())
    props.set({ q })
  }
  return (
    <section class="sup" aria-label={PAGE.providers}>
      <Totals totals={props.capacity.totals()} />
      <div class="card tw">
        <div class="tools tt">
          <div class="seg" role="group" aria-label={PAGE.which}>
            <button type="button" aria-pressed={isHosts()} onClick={() => props.set({ tab: '' })}>
              {PAGE.hostsTab} <span class="dimmer">{props.capacity.hosts().length}</span>
            </button>
            <button type="button" aria-pressed={!isHosts()} onClick={() => props.set({ tab: 'machines' })}>
              {PAGE.machinesTab} <span class="dimmer">{fleet.machines().length}</span>
            </button>
          </div>
          <input
            class="field slim"
            type="search"
            aria-label={PAGE.filter}
            placeholder={PAGE.filterHint}
            value={props.filter}
            onInput={event => filter(event.currentTarget.value)}
          />
          <span class="grow" />
          <Show when={isHosts() && parents().length > 0}>
            <button type="button" class="btn quiet" onClick={openAll}>
              {areAllOpen() ? PAGE.foldAll : PAGE.expandAll}
            </button>
          </Show>
        </div>
        <Switch>
          <Match when={isHosts() && rows().length > 0}>
            <Tree
              rows={rows()}
              columns={columns()}
              isOpen={isOpen}
              setOpen={setOpen}
              usual={props.capacity.usual()}
              marks={props.marks}
            />
          </Match>
          <Match when={!isHosts() && machines().length > 0}>
            <Machines rows={machines()} usual={props.capacity.usual()} />
          </Match>
          <Match when={true}>
            <div class="noth">
              <p class="dim">
                {isFiltered() ? PAGE.noMatch(props.filter) : isHosts() ? PAGE.noHosts : PAGE.noMachines}
              </p>
              <Show when={isFiltered()}>
                <button type="button" class="btn small" onClick={() => filter('')}>
                  {PAGE.dropFilter}
                </button>
              </Show>
            </div>
          </Match>
        </Switch>
      </div>
    </section>
  )
}
