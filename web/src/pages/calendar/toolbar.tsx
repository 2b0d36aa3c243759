// Above the chart: which time, how much of it, which rows, and other ways to see the same.
import { type Component, createSignal, For, Show } from 'solid-js'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { type Zoom, ZOOMS } from '../../parts/timeline/scale.ts'
import { words } from '../../words.ts'
import { ROWS, type Rows } from './address.ts'
import { FilterTools, type FilterToolsProps } from './filters.tsx'
import type { CalendarView } from './view.ts'

interface ToolbarProps extends Omit<FilterToolsProps, 'isOpen' | 'setIsOpen'> {
  view: CalendarView
  /** The time that is shown, in words. */
  range: string
  rows: Rows
  setRows: (rows: Rows) => void
  isList: boolean
  setIsList: (isList: boolean) => void
  subscribe: () => void
}

export const Toolbar: Component<ToolbarProps> = props => {
  const [isFiltering, setIsFiltering] = createSignal(false)
  return (
    <div class="ctools tools">
      <button type="button" class="vh to-list" onClick={() => props.setIsList(!props.isList)}>
        {props.isList ? words.calendar.showChart : words.calendar.showList}
      </button>
      <button type="button" class="btn icon2" aria-label={words.calendar.earlier} onClick={() => props.view.page(-1)}>
        <Icon name="left" />
      </button>
      <button type="button" class="btn" aria-pressed={props.view.isToday()} onClick={() => props.view.today()}>
        {words.calendar.today}
      </button>
      <button type="button" class="btn icon2" aria-label={words.calendar.later} onClick={() => props.view.page(1)}>
        <Icon name="right" />
      </button>
      <h1 class="range">{props.range}</h1>
      <ZoomChoice zoom={props.view.zoom()} choose={zoom => props.view.zoomTo(zoom)} />
      <span class="sep hide-s" />
      <Menu
        class="btn hide-s"
        label={words.calendar.rowsBy(words.calendar.rows[props.rows])}
        face={
          <>
            {words.calendar.by(words.calendar.rows[props.rows])}
            <Icon name="down" />
          </>
        }
        items={ROWS.map(rows => ({
          text: words.calendar.by(words.calendar.rows[rows]),
          act: () => props.setRows(rows),
        }))}
      />
      <FilterTools
        isOpen={isFiltering()}
        setIsOpen={setIsFiltering}
        filters={props.filters}
        set={props.set}
        options={props.options}
      />
      <span class="grow" />
      <button
        type="button"
        class="btn quiet hide-s"
        aria-pressed={props.isList}
        onClick={() => props.setIsList(!props.isList)}
      >
        <Icon name={props.isList ? 'gantt' : 'rows'} />
        <span class="txt">{props.isList ? words.calendar.asChart : words.calendar.asList}</span>
      </button>
      <button type="button" class="btn icon2 hide-s" aria-label={words.calendar.print} onClick={() => print()}>
        <Icon name="print" />
      </button>
      <button type="button" class="btn hide-s" onClick={() => props.subscribe()}>
        <Icon name="link" />
        <span class="txt">{words.calendar.subscribe}</span>
      </button>
      <Menu
        class="btn icon2 only-s"
        label={words.calendar.more}
        face={<Icon name="more" />}
        items={[
          ...ZOOMS.map(zoom => ({ text: words.calendar.zooms[zoom], act: () => props.view.zoomTo(zoom) })),
          {
            text: props.isList ? words.calendar.asChart : words.calendar.asList,
            act: () => props.setIsList(!props.isList),
          },
          { text: `${words.calendar.filter}…`, act: () => setIsFiltering(true) },
          { text: words.calendar.subscribe, act: () => props.subscribe() },
        ]}
      />
    </div>
  )
}

const ZoomChoice: Component<{ zoom: Zoom; choose: (zoom: Zoom) => void }> = props => {
  let group!: HTMLDivElement
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    const next = step === undefined ? undefined : ZOOMS.at((ZOOMS.indexOf(props.zoom) + step) % ZOOMS.length)
    if (next === undefined) return
    event.preventDefault()
    props.choose(next)
    group.querySelectorAll('button')[ZOOMS.indexOf(next)]?.focus()
  }
  return (
    <div ref={group} class="seg hide-s" role="radiogroup" aria-label={words.calendar.zoom} on:keydown={move}>
      <For each={ZOOMS}>
        {zoom => (
          <button
            type="button"
            role="radio"
            aria-checked={props.zoom === zoom}
            tabindex={props.zoom === zoom ? 0 : -1}
            onClick={() => props.choose(zoom)}
          >
            {words.calendar.zooms[zoom]}
          </button>
        )}
      </For>
    </div>
  )
}

/** What the shapes mean, and the keys that help. */
export const Legend: Component<{ mayBook: boolean }> = props => (
  <div class="legend">
    <For each={['free', 'taken', 'booked', 'held', 'maintenance', 'broken'] as const}>
      {state => (
        <span>
          <svg class={`g g-${state}`} aria-hidden="true">
            <use href={`#s-${state}`} />
          </svg>
          <Show when={state !== 'free'}>
            <i class={`pattern p-${state}`} />
          </Show>
          {words.states[state].word}
        </span>
      )}
    </For>
    <span class="sep" />
    <span>
      <i class="sw" />
      {words.calendar.canBeBooked}
    </span>
    <span>
      <i class="sw grey" />
      {words.calendar.cant}
    </span>
    <span class="grow" />
    <span class="hints">
      <Show when={props.mayBook}>
        <span>
          <kbd>B</kbd>
          {words.calendar.hints.book}
        </span>
        <span>
          <kbd>M</kbd>
          {words.calendar.hints.move}
        </span>
      </Show>
      <span>
        <kbd>+</kbd>
        <kbd>−</kbd>
        {words.calendar.hints.zoom}
      </span>
      <span>
        <kbd>T</kbd>
        {words.calendar.hints.today}
      </span>
      <span>
        <kbd>?</kbd>
        {words.calendar.hints.keys}
      </span>
    </span>
  </div>
)
