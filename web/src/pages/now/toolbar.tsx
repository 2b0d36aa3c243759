// View, groups and filters. All of it is in the address.
import { type Component, createSignal, For, onCleanup, Show } from 'solid-js'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Popover } from '../../parts/popover.tsx'
import { openGet } from '../../parts/booking/open.ts'
import { traitShown } from '../../parts/trait.ts'
import { words } from '../../words.ts'
import { type FilterName, FILTERS } from '../../data/filter.ts'
import { GROUPINGS } from './groups.ts'
import { STATES } from './survey.ts'
import type { NowView } from './view.ts'

const TYPING_MS = 150

export const Toolbar: Component<{ view: NowView; add: () => void }> = props => {
  const [isOpen, setIsOpen] = createSignal(false)
  let button!: HTMLButtonElement
  const total = () => fleet.machines().length
  const face = () => (
    <>
      {words.now.by[props.view.grouping()]}
      <Icon name="down" />
    </>
  )
  return (
    <div class="tools main-tools">
      <div class="seg" role="group" aria-label={words.now.view}>
        <For each={['tiles', 'table'] as const}>
          {view => (
            <button
              type="button"
              aria-pressed={props.view.view() === view}
              onClick={() => props.view.set({ view: view === 'tiles' ? null : view })}
            >
              <Icon name={view === 'tiles' ? 'tiles' : 'rows'} />
              {words.now[view]}
            </button>
          )}
        </For>
      </div>
      <Menu
        class="btn"
        label={`${words.now.groupBy}: ${words.now.by[props.view.grouping()]}`}
        face={<>{face()}</>}
        items={GROUPINGS.map(by => ({
          text: words.now.by[by],
          act: () => props.view.set({ group: by === 'rack' ? null : by }),
        }))}
      />
      <span class="sep hide-s" />
      <FilterText view={props.view} name="q" class="slim q hide-s" placeholder={words.now.filterText} />
      <button
        ref={button}
        type="button"
        class="btn quiet"
        aria-expanded={isOpen()}
        aria-haspopup="dialog"
        onClick={() => setIsOpen(!isOpen())}
      >
        <Icon name="filter" />
        {words.now.filter}
      </button>
      <Show when={isOpen()}>
        <Popover
          anchor={button}
          label={words.now.filters}
          close={() => setIsOpen(false)}
          takesFocus
          class="p-now-filters"
        >
          <FilterForm view={props.view} />
        </Popover>
      </Show>
      <Tokens view={props.view} />
      <span class="grow" />
      <span class="dimmer hide-s">
        {words.now.shown(props.view.survey().shown.length, total())}
        {props.view.isFiltered() ? '' : words.now.andHosts(fleet.hosts().length)}
      </span>
      <Show when={fleet.me().may.includes('allocate')}>
        <button type="button" class="btn hide-s" onClick={() => openGet()}>
          {words.now.getOne}
        </button>
      </Show>
      <Show when={fleet.me().may.includes('create node')}>
        <button
          type="button"
          class="btn hide-s"
          disabled={!isLive()}
          title={isLive() ? undefined : words.doing.offline}
          onClick={() => props.add()}
        >
          <Icon name="plus" />
          {words.now.add}
        </button>
      </Show>
    </div>
  )
}

interface TextProps {
  view: NowView
  name: FilterName
  class?: string
  placeholder: string
  list?: string
  describedBy?: string
}

/** Follows the address, and changes it a moment after the last letter. */
const FilterText: Component<TextProps> = props => {
  let timer: ReturnType<typeof setTimeout> | undefined
  onCleanup(() => clearTimeout(timer))
  const write = (text: string) => {
    clearTimeout(timer)
    timer = setTimeout(() => props.view.set({ [props.name]: text.trim() || null }), TYPING_MS)
  }
  return (
    <input
      class={`field ${props.class ?? ''}`}
      aria-label={words.now.fields[props.name]}
      aria-invalid={props.view.matcher().wrong.includes(props.name) || undefined}
      aria-describedby={props.describedBy}
      value={props.view.filters()[props.name]}
      placeholder={props.placeholder}
      list={props.list}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => write(currentTarget.value)}
    />
  )
}

const FilterForm: Component<{ view: NowView }> = props => {
  const among = (pick: (machine: ReturnType<typeof fleet.machines>[number]) => string | null) => {
    const found = new Set(fleet.machines().map(pick))
    found.delete(null)
    return [...found].filter(word => word !== null).sort()
  }
  const options = (name: FilterName): string[] => {
    if (name === 'class') return among(machine => machine.class)
    if (name === 'rack') return among(({ rack }) => rack)
    if (name === 'who') return among(({ who }) => who)
    if (name === 'project') return among(({ project, owner }) => project ?? owner)
    if (name === 'trait') return fleet.traits().map(traitShown).sort()
    if (name === 'state') return STATES
    return name === 'until' ? ['<1h', '<2h', '<8h', '<1d', '>1d', 'none'] : []
  }
  const isWrong = (name: FilterName) => props.view.matcher().wrong.includes(name)
  return (
    <div class="form">
      <For each={['q', ...FILTERS.filter(name => name !== 'q')] as FilterName[]}>
        {name => (
          <>
            <span aria-hidden="true">{words.now.fields[name]}</span>
            <span>
              <FilterText
                view={props.view}
                name={name}
                class="slim"
                placeholder={words.now.hints[name]}
                list={`now-${name}`}
                {...(isWrong(name) && { describedBy: `now-wrong-${name}` })}
              />
              <datalist id={`now-${name}`}>
                <For each={options(name)}>{option => <option value={option} />}</For>
              </datalist>
              <Show when={isWrong(name)}>
                <small id={`now-wrong-${name}`} class="wrong" role="alert">
                  {words.now.notAFilter(props.view.filters()[name])}
                </small>
              </Show>
            </span>
          </>
        )}
      </For>
      <span />
      <button type="button" class="btn small" disabled={!props.view.isFiltered()} onClick={() => props.view.clear()}>
        {words.now.clear}
      </button>
    </div>
  )
}

/** What is filtered now, each with a way out. */
const Tokens: Component<{ view: NowView }> = props => {
  const set = () => FILTERS.filter(name => props.view.filters()[name] !== '')
  return (
    <For each={set()}>
      {name => (
        <span class="tok" classList={{ wrong: props.view.matcher().wrong.includes(name) }}>
          <span>{words.now.fields[name]}</span>
          <b class="cut">{props.view.filters()[name].replaceAll(',', ', ')}</b>
          <button
            type="button"
            aria-label={words.now.drop(words.now.fields[name], props.view.filters()[name])}
            onClick={() => props.view.set({ [name]: null })}
          >
            <Icon name="cross" />
          </button>
        </span>
      )}
    </For>
  )
}
