// Several of many: what is chosen as chips, each with a way to leave it out, and a list with search to add more.
import { type Component, createMemo, createSignal, For, Show } from 'solid-js'
import { words } from '../words.ts'
import { Icon } from './icon.tsx'
import { Popover } from './popover.tsx'
import { traitShown } from './trait.ts'
import './fields.css'

interface ChipsProps {
  /** What they are: `trait`. */
  noun: string
  value: readonly string[]
  /** All there are. */
  options: readonly string[]
  onValue: (value: readonly string[]) => void
  /** How one is shown; as it is if it isn't said. */
  shown?: (option: string) => string
  /** Which of them stand in the way. */
  isBad?: (option: string) => boolean
  isDisabled?: boolean
}

const LISTED_MAX = 100

export const ChipsField: Component<ChipsProps> = props => {
  const shown = (option: string) => props.shown?.(option) ?? option
  const [isOpen, setIsOpen] = createSignal(false)
  let button!: HTMLButtonElement
  const leaveOut = (option: string) => {
    props.onValue(props.value.filter(one => one !== option))
    button.focus()
  }
  const add = (option: string) => {
    setIsOpen(false)
    props.onValue([...props.value, option])
  }
  const others = createMemo(() => props.options.filter(option => !props.value.includes(option)))
  return (
    <span class="chips" role="group" aria-label={props.noun}>
      <For each={props.value}>
        {option => (
          <span classList={{ field: true, slim: true, chipf: true, bad: props.isBad?.(option) ?? false }}>
            <b title={option}>{shown(option)}</b>
            <button
              type="button"
              aria-label={words.fields.leaveOut(shown(option))}
              disabled={props.isDisabled}
              onClick={() => leaveOut(option)}
            >
              <Icon name="cross" />
            </button>
          </span>
        )}
      </For>
      <button
        ref={button}
        type="button"
        class="btn quiet small"
        aria-haspopup="dialog"
        aria-expanded={isOpen()}
        aria-label={words.fields.add(props.noun)}
        disabled={props.isDisabled || others().length === 0}
        onClick={() => setIsOpen(!isOpen())}
      >
        <Icon name="plus" />
        {props.noun}
      </button>
      <Show when={isOpen()}>
        <Popover
          anchor={button}
          label={words.fields.add(props.noun)}
          close={() => setIsOpen(false)}
          takesFocus
          class="menu picker"
        >
          <Picker options={others()} shown={shown} noun={props.noun} choose={add} />
        </Popover>
      </Show>
    </span>
  )
}

/** The same for traits, called as people call them. */
export const TraitsField: Component<Omit<ChipsProps, 'shown' | 'noun'>> = props => (
  <ChipsField {...props} noun={words.fields.trait} shown={traitShown} />
)

interface PickerProps {
  options: readonly string[]
  shown: (option: string) => string
  noun: string
  choose: (option: string) => void
}

const Picker: Component<PickerProps> = props => {
  const [sought, setSought] = createSignal('')
  let list!: HTMLUListElement
  const found = createMemo(() => {
    const text = sought().trim().toLowerCase()
    const rankOf = (option: string) => (option === text ? 0 : option.startsWith(text) ? 1 : 2)
    return props.options
      .filter(option => option.toLowerCase().includes(text))
      .sort((a, b) => rankOf(a.toLowerCase()) - rankOf(b.toLowerCase()))
      .slice(0, LISTED_MAX)
  })
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const [first] = found()
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement && first !== undefined) {
      event.preventDefault()
      props.choose(first)
    }
    if (step === undefined) return
    event.preventDefault()
    const all = [...list.querySelectorAll('button')]
    const at = all.indexOf(document.activeElement as HTMLButtonElement)
    all.at(at < 0 ? (step > 0 ? 0 : -1) : (at + step) % all.length)?.focus()
  }
  return (
    <div onKeyDown={move}>
      <input
        class="field"
        type="text"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-label={words.fields.add(props.noun)}
        placeholder={words.fields.search}
        onInput={event => setSought(event.currentTarget.value)}
      />
      <ul ref={list}>
        <For each={found()} fallback={<li class="dimmer none">{words.fields.none}</li>}>
          {option => (
            <li>
              <button type="button" title={option} onClick={() => props.choose(option)}>
                {props.shown(option)}
              </button>
            </li>
          )}
        </For>
      </ul>
    </div>
  )
}
