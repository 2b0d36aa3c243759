// The machines as providers: each is one of its class, had or not.
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { fleet } from '../../data/fleet.ts'
import { machineHref } from '../../data/machine-href.ts'
import { StateWord } from '../../parts/glyph.tsx'
import { traitShown } from '../../parts/trait.ts'
import { createWindow } from '../../parts/window.ts'
import { words } from '../../words.ts'
import { createRowHeight } from './tree.tsx'

const PAGE = words.capacity

export const Machines: Component<{ rows: readonly Machine[]; usual: ReadonlySet<string> }> = props => {
  let body!: HTMLDivElement
  const rowHeight = createRowHeight()
  const view = createWindow({
    heights: () => ({ each: rowHeight(), count: props.rows.length }),
    element: () => body,
  })
  const shown = createMemo(() => props.rows.slice(view().from, view().to))
  return (
    <div class="tg flat" role="table" aria-label={PAGE.machinesTab} aria-rowcount={props.rows.length + 1}>
      <div class="tr head" role="row" aria-rowindex={1}>
        <For each={[PAGE.machine, PAGE.kind, PAGE.state, PAGE.who]}>
          {title => <span role="columnheader">{title}</span>}
        </For>
      </div>
      <div class="tb" role="rowgroup" ref={body} style={{ height: `${view().height}px` }}>
        <For each={shown()}>
          {(machine, at) => (
            <div
              class="tr"
              role="row"
              aria-rowindex={view().from + at() + 2}
              style={{ top: `${view().before + at() * rowHeight()}px` }}
            >
              <span role="cell" class="nm">
                <a class="med" href={machineHref(machine)}>
                  {machine.name ?? machine.uuid}
                </a>
                <span class="tags cut">
                  <For
                    each={fleet
                      .traitsOf(machine)
                      .filter(trait => trait.startsWith('CUSTOM_') && !props.usual.has(trait))}
                  >
                    {trait => <em class="tag">{traitShown(trait)}</em>}
                  </For>
                </span>
              </span>
              <span role="cell">{machine.class}</span>
              <span role="cell">
                <StateWord state={machine.state} verb={machine.verb} />
              </span>
              <span role="cell" class="cut">
                {machine.who} <Show when={machine.project}>{project => <span class="dimmer">{project()}</span>}</Show>
              </span>
            </div>
          )}
        </For>
      </div>
    </div>
  )
}
