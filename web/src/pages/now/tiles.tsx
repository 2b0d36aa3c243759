// Racks of tiles. Only those in view are drawn; arrow keys walk over all of them.
import { useNavigate } from '@solidjs/router'
import { type Component, createEffect, createMemo, createSelector, createSignal, For, Show } from 'solid-js'
import type { StatusHost } from '../../../../src/client/status.ts'
import { fleet } from '../../data/fleet.ts'
import { machinePath } from '../../data/machine-href.ts'
import { useKeys } from '../../data/keys.ts'
import { createWindow } from '../../parts/window.ts'
import { words } from '../../words.ts'
import { MachinePopover } from './machine-popover.tsx'
import { createHover } from './hover.ts'
import { flash } from './flash.ts'
import { type Group, groupKeyOf, shortName } from './groups.ts'
import { type Line, linesIn, placeOf, rowsOf, stepTo, stripsOf, type TileSizes, topOf } from './strips.ts'
import { factsBy, type GroupFacts } from './survey.ts'
import { HostTile, MachineTile } from './machine-tile.tsx'
import type { Frozen, NowView } from './view.ts'
import { GroupHead } from './group-head.tsx'

interface TilesProps {
  view: NowView
  frozen: Frozen
  sizes: TileSizes
  current: string | null
  setCurrent: (id: string) => void
}

const STEPS = new Set(['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'])

export const Tiles: Component<TilesProps> = props => {
  let box!: HTMLDivElement
  const [element, setElement] = createSignal<HTMLDivElement>()
  const layout = () => props.frozen.layout()
  const strips = createMemo(() => stripsOf(layout().groups, props.sizes))
  const window = createWindow({ heights: () => strips().heights, element })
  const lines = createMemo(() => linesIn(strips(), window()))
  const byKey = createMemo(() => new Map(strips().lines.map(line => [line.key, line])))
  const hosts = createMemo(() => new Map(fleet.hosts().map(host => [host.uuid, host])))
  const facts = createMemo(() => factsBy(props.view.survey().shown, groupKeyOf(props.view.grouping())))
  const isTabbable = createSelector(createMemo(() => tabbable(lines(), props.current)))
  const hover = createHover(() => !props.view.isWall())
  const navigate = useNavigate()
  createEffect(() => flash(box, fleet.flashes()))

  const focus = (id: string) => {
    props.setCurrent(id)
    const place = placeOf(layout().groups, id)
    if (place && !tileAt(box, id)) {
      const top = box.getBoundingClientRect().top + scrollY + topOf(strips(), props.sizes, place)
      scrollTo({ top: top - innerHeight / 2 })
    }
    requestAnimationFrame(() => tileAt(box, id)?.focus())
  }
  const step = (key: string) => focus(stepTo(layout().groups, props.current ?? '', key, props.sizes.columns))
  useKeys(words.now.title, [
    { keys: 'j', words: words.now.keys.next, act: () => step('ArrowRight') },
    { keys: 'k', words: words.now.keys.previous, act: () => step('ArrowLeft') },
  ])
  const onKey = (event: KeyboardEvent) => {
    const id = idOf(event.target)
    if (id === null || event.ctrlKey || event.metaKey || event.altKey) return
    if (STEPS.has(event.key)) focus(stepTo(layout().groups, id, event.key, props.sizes.columns))
    else if (event.key === ' ' && fleet.machine(id)) hover.show(id, event.target as Element, true)
    else return
    event.preventDefault()
  }
  return (
    <div
      ref={element => {
        box = element
        setElement(element)
      }}
      class="fleet"
      style={{ height: `${window().height}px`, '--columns': props.sizes.columns }}
      onKeyDown={onKey}
      onFocusIn={({ target }) => {
        const id = idOf(target)
        if (id !== null) props.setCurrent(id)
      }}
      onPointerOver={({ target, pointerType }) => pointerType !== 'touch' && hover.over(idOf(target), tileOf(target))}
      onPointerLeave={() => hover.over(null, null)}
    >
      <For each={lines().map(({ key }) => key)}>
        {key => (
          <LineOf
            line={() => byKey().get(key)}
            rows={line => rowsOf(line, window())}
            facts={key => facts().get(key)}
            isTabbable={isTabbable}
            host={id => hosts().get(id)}
            {...props}
          />
        )}
      </For>
      <Show when={hover.shown()} keyed>
        {({ id, anchor, takesFocus }) => (
          <Show when={fleet.machine(id)}>
            {machine => (
              <MachinePopover
                machine={machine()}
                anchor={anchor}
                takesFocus={takesFocus}
                close={hover.close}
                keep={hover.keep}
                leave={hover.leave}
                open={() => navigate(machinePath(machine()))}
              />
            )}
          </Show>
        )}
      </Show>
    </div>
  )
}

interface LineProps extends TilesProps {
  line: () => Line | undefined
  rows: (line: Line) => { first: number; last: number }
  facts: (key: string) => GroupFacts | undefined
  isTabbable: (id: string) => boolean
  host: (id: string) => StatusHost | undefined
}

/** A line stays the same element while its machines come and go, so that the focus stays. */
const LineOf: Component<LineProps> = props => {
  const line = createMemo((before: Line | undefined): Line => props.line() ?? before!)
  return (
    <div
      class="line"
      classList={{ two: props.sizes.abreast > 1 }}
      style={{ top: `${line().top}px`, height: `${line().height}px` }}
    >
      <For each={line().groups.map(({ key }) => key)}>
        {key => <Rack {...props} group={() => line().groups.find(group => group.key === key)} ofLine={line} />}
      </For>
    </div>
  )
}

interface RackProps extends LineProps {
  group: () => Group | undefined
  ofLine: () => Line
}

const Rack: Component<RackProps> = props => {
  const group = createMemo((before: Group | undefined): Group => props.group() ?? before!)
  const rows = createMemo(() => props.rows(props.ofLine()), undefined, {
    equals: (a, b) => a.first === b.first && a.last === b.last,
  })
  const ids = createMemo(() => group().ids.slice(rows().first * props.sizes.columns, rows().last * props.sizes.columns))
  const by = () => props.view.grouping()
  return (
    <section class="rack" aria-label={words.now.groupOf(group(), by())}>
      <GroupHead group={group()} by={by()} facts={props.facts(group().key)} />
      <ul style={{ 'padding-top': `${rows().first * props.sizes.strip}px` }}>
        <For each={ids()}>
          {id => (
            <li>
              <Show
                when={group().kind === 'machines'}
                fallback={<HostTile host={props.host(id)} prefix={group().prefix} isCurrent={props.isTabbable(id)} />}
              >
                <MachineTile
                  id={id}
                  called={machine => shortName(machine, group(), by())}
                  isWall={props.view.isWall()}
                  isCurrent={props.isTabbable(id)}
                />
              </Show>
            </li>
          )}
        </For>
      </ul>
    </section>
  )
}

/** The tile that Tab leads to: the one that had the focus last, if it is drawn, else the first. */
function tabbable(lines: readonly Line[], current: string | null): string | undefined {
  const groups = lines.flatMap(line => line.groups)
  const isThere = current !== null && groups.some(({ ids }) => ids.includes(current))
  return isThere ? current : groups[0]?.ids[0]
}

const tileOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('.tile[data-id]') : null
const idOf = (target: EventTarget | null): string | null => tileOf(target)?.dataset['id'] ?? null
const tileAt = (box: Element, id: string) => box.querySelector<HTMLElement>(`.tile[data-id="${CSS.escape(id)}"]`)
