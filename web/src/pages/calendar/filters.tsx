// The filters of the calendar: what is set, each with a way to drop it, and a form to set more.
import { type Component, For, Show } from 'solid-js'
import { type FilterName, type Filters, FILTERS } from '../../data/filter.ts'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Popover } from '../../parts/popover.tsx'
import { words } from '../../words.ts'

export interface FilterToolsProps {
  isOpen: boolean
  setIsOpen: (isOpen: boolean) => void

  filters: Filters
  set: (name: FilterName, value: string) => void
  /** What there is to choose from. */
  options: Readonly<Record<'class' | 'rack' | 'project', readonly string[]>>
}

const CHOSEN = ['class', 'rack', 'project'] as const

export const FilterTools: Component<FilterToolsProps> = props => {
  let button!: HTMLButtonElement
  return (
    <>
      <For each={FILTERS.filter(name => props.filters[name] !== '')}>
        {name => (
          <span class="tok">
            <span>{words.calendar.filters[name]}</span>
            <b>{props.filters[name]}</b>
            <button
              type="button"
              aria-label={words.calendar.dropFilter(words.calendar.filters[name])}
              onClick={() => props.set(name, '')}
            >
              ×
            </button>
          </span>
        )}
      </For>
      <button
        ref={button}
        type="button"
        class="btn quiet hide-s"
        aria-haspopup="dialog"
        aria-expanded={props.isOpen}
        onClick={() => props.setIsOpen(!props.isOpen)}
      >
        <Icon name="filter" />
        {words.calendar.filter}
      </button>
      <Show when={props.isOpen}>
        <Popover
          anchor={button}
          label={words.calendar.filter}
          close={() => props.setIsOpen(false)}
          takesFocus
          class="filter-form"
        >
          <For each={CHOSEN}>
            {name => (
              <SelectField
                label={words.calendar.filters[name]}
                value={props.filters[name]}
                options={[
                  { value: '', text: words.calendar.all },
                  ...props.options[name].map(value => ({ value, text: value })),
                ]}
                onValue={value => props.set(name, value)}
              />
            )}
          </For>
          <TextField
            label={words.calendar.filters.who}
            value={props.filters.who}
            onValue={value => props.set('who', value)}
          />
          <TextField
            label={words.calendar.filters.q}
            value={props.filters.q}
            onValue={value => props.set('q', value)}
          />
        </Popover>
      </Show>
    </>
  )
}
