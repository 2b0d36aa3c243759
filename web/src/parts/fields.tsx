// Fields: a label, what is typed, and beside it what was understood or what is wrong with it. Times and spans take what
// the command takes: `tue 14:00`, `2d`.
import { type Component, createSignal, createUniqueId, For, type JSX, type ParentComponent, Show } from 'solid-js'
import { unclearIn } from '../../../src/shared/when.ts'
import { instantTyped, lasting, spanTyped, utc, when, zoneName } from '../data/clock.ts'
import { words } from '../words.ts'
import './fields.css'

interface FieldProps {
  label: string
  /** A word in a sentence: the label is only for screen readers, and the field as narrow as its text. */
  isInline?: boolean
  /** What is wrong, from outside: such as the server's refusal. */
  error?: string | null
  hint?: string | undefined
  isDisabled?: boolean
  isRequired?: boolean
}

interface Wiring {
  id: string
  describedBy: string
}

interface FrameProps extends FieldProps {
  wiring: Wiring
  /** What is wrong; wins over `understood`. */
  wrong: string | null
  understood?: string | null
  children: JSX.Element
}

const wiringOf = (): Wiring => {
  const id = createUniqueId()
  return { id, describedBy: `${id}-said` }
}

const Frame: Component<FrameProps> = props => (
  <span classList={{ fd: true, inline: props.isInline ?? false, wrong: props.wrong !== null }}>
    <label classList={{ vh: props.isInline ?? false }} for={props.wiring.id}>
      {props.label}
    </label>
    {props.children}
    <span id={props.wiring.describedBy} class="fd-said" aria-live="polite">
      <Show when={props.wrong ?? props.understood ?? props.hint}>{said => said()}</Show>
    </span>
  </span>
)

interface TypedProps<T> extends FieldProps {
  value: T | null
  onValue: (value: T) => void
  /** The field was emptied; only for fields that may be empty. */
  onClear?: () => void
  placeholder?: string | undefined
  /** What is wrong with a value that can be read. */
  check?: ((value: T) => string | null) | undefined
}

interface Reading<T> {
  read: (text: string) => T | null
  shown: (value: T) => string
  /** What is wrong with a text that can't be read. */
  unclear: (text: string) => string
  understood?: ((value: T) => string | null) | undefined
  inputMode?: 'text' | 'numeric'
}

/** What is typed counts as soon as it can be read; what is wrong is said when the field is left, or at Enter. */
function TypedField<T>(props: TypedProps<T> & { reading: Reading<T> }): JSX.Element {
  const wiring = wiringOf()
  /** null while nobody types: then the value is shown. */
  const [typed, setTyped] = createSignal<string | null>(null)
  const [isLeft, setIsLeft] = createSignal(true)
  const shown = () => typed() ?? (props.value === null ? '' : props.reading.shown(props.value))
  const wrongIn = (text: string): string | null => {
    if (text.trim() === '') return props.isRequired ? words.fields.missing(props.label) : null
    const value = props.reading.read(text)
    return value === null ? props.reading.unclear(text) : (props.check?.(value) ?? null)
  }
  const wrong = (): string | null => {
    const text = typed()
    const own =
      text !== null ? (isLeft() ? wrongIn(text) : null) : props.value === null ? null : props.check?.(props.value)
    return own ?? props.error ?? null
  }
  const understood = () => {
    const text = typed()
    const value = text === null ? null : props.reading.read(text)
    return value === null ? null : (props.reading.understood?.(value) ?? null)
  }
  const type = (text: string) => {
    setTyped(text)
    setIsLeft(false)
    if (text.trim() === '') props.onClear?.()
    const value = props.reading.read(text)
    if (value !== null && (props.check?.(value) ?? null) === null) props.onValue(value)
  }
  const settle = () => {
    const text = typed()
    setIsLeft(true)
    // What is wrong stays to be mended; what is understood is shown as it was understood.
    if (text !== null && wrongIn(text) === null && (text.trim() !== '' || props.isRequired !== true)) setTyped(null)
  }
  return (
    <Frame {...props} wiring={wiring} wrong={wrong()} understood={understood()}>
      <input
        id={wiring.id}
        classList={{ field: true, slim: props.isInline ?? false }}
        type="text"
        inputmode={props.reading.inputMode ?? 'text'}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={shown()}
        size={props.isInline ? Math.max(2, shown().length) : undefined}
        placeholder={props.placeholder}
        disabled={props.isDisabled}
        aria-invalid={wrong() !== null}
        aria-describedby={wiring.describedBy}
        onInput={event => type(event.currentTarget.value)}
        onChange={settle}
        onBlur={settle}
        onKeyDown={event => event.key === 'Enter' && settle()}
        onFocus={event => event.currentTarget.select()}
      />
    </Frame>
  )
}

const TIME: Reading<number> = {
  read: instantTyped,
  shown: at => when(at),
  unclear: text => words.fields.unclearTime(unclearIn(text)),
  understood: at => `${when(at)} ${zoneName(at)}, ${utc(at)}`,
}

/** An instant, in milliseconds: `tue 14:00`, `2d` from now, `2030-01-01 10:00`. */
export const TimeField: Component<TypedProps<number>> = props => (
  <TypedField {...props} reading={TIME} placeholder={props.placeholder ?? words.fields.timeExample} />
)

/** A span of less than this is a slip: a bare number means seconds. */
const SPAN_MIN_MS = 60_000

const SPAN: Reading<number> = {
  read: spanTyped,
  shown: lasting,
  unclear: text => words.fields.unclearSpan(unclearIn(text)),
  understood: lasting,
}

/** A span of time, in milliseconds: `2d`, `90m`, `1 h 30 min`. */
export const SpanField: Component<TypedProps<number>> = props => (
  <TypedField
    {...props}
    reading={SPAN}
    placeholder={props.placeholder ?? words.fields.spanExample}
    check={ms => (ms < SPAN_MIN_MS ? words.fields.spanTooShort : (props.check?.(ms) ?? null))}
  />
)

/** A whole number; `min` is 1 unless said. */
export const CountField: Component<TypedProps<number> & { min?: number; max?: number }> = props => {
  const min = () => props.min ?? 1
  const max = () => props.max ?? 100_000
  const isWithin = (value: number) => value >= min() && value <= max()
  const reading: Reading<number> = {
    read: text => (/^\s*\d{1,9}\s*$/.test(text) ? Number(text) : null),
    shown: String,
    unclear: () => words.fields.notACount(min(), max()),
    inputMode: 'numeric',
  }
  const check = (value: number) =>
    isWithin(value) ? (props.check?.(value) ?? null) : words.fields.notACount(min(), max())
  return <TypedField {...props} reading={reading} check={check} />
}

interface TextProps extends FieldProps {
  value: string
  onValue: (value: string) => void
  placeholder?: string | undefined
  max?: number
  /** Room for so many lines; one if it isn't said. */
  lines?: number
}

export const TextField: Component<TextProps> = props => {
  const wiring = wiringOf()
  const wrong = () =>
    props.error ?? (props.max !== undefined && props.value.length > props.max ? words.fields.tooLong(props.max) : null)
  const common = () => ({
    id: wiring.id,
    value: props.value,
    placeholder: props.placeholder,
    disabled: props.isDisabled,
    required: props.isRequired,
    'aria-invalid': wrong() !== null,
    'aria-describedby': wiring.describedBy,
    onInput: (event: InputEvent & { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      props.onValue(event.currentTarget.value),
  })
  return (
    <Frame {...props} wiring={wiring} wrong={wrong()}>
      <Show
        when={(props.lines ?? 1) > 1}
        fallback={
          <input
            {...common()}
            classList={{ field: true, slim: props.isInline ?? false }}
            type="text"
            autocomplete="off"
            size={props.isInline ? Math.max(6, props.value.length) : undefined}
          />
        }
      >
        <textarea {...common()} class="field" rows={props.lines} />
      </Show>
    </Frame>
  )
}

interface Option {
  value: string
  text: string
}

interface SelectProps extends FieldProps {
  value: string | null
  options: readonly (string | Option)[]
  onValue: (value: string) => void
  /** Shown while nothing is chosen. */
  none?: string
}

const optionOf = (option: string | Option): Option =>
  typeof option === 'string' ? { value: option, text: option } : option

export const SelectField: Component<SelectProps> = props => {
  const wiring = wiringOf()
  // A value that isn't offered any more is still the one that is chosen.
  const options = () => {
    const all = props.options.map(optionOf)
    const { value } = props
    return value === null || all.some(one => one.value === value) ? all : [{ value, text: value }, ...all]
  }
  return (
    <Frame {...props} wiring={wiring} wrong={props.error ?? null}>
      <select
        id={wiring.id}
        classList={{ field: true, slim: props.isInline ?? false }}
        disabled={props.isDisabled}
        aria-invalid={(props.error ?? null) !== null}
        aria-describedby={wiring.describedBy}
        onChange={event => props.onValue(event.currentTarget.value)}
      >
        <Show when={props.value === null}>
          <option value="" selected disabled>
            {props.none ?? words.fields.choose}
          </option>
        </Show>
        <For each={options()}>
          {option => (
            <option value={option.value} selected={option.value === props.value}>
              {option.text}
            </option>
          )}
        </For>
      </select>
    </Frame>
  )
}

interface CheckProps {
  label: string
  value: boolean
  onValue: (value: boolean) => void
  isDisabled?: boolean
}

export const CheckField: ParentComponent<CheckProps> = props => (
  <label class="fd-check">
    <input
      type="checkbox"
      checked={props.value}
      disabled={props.isDisabled}
      onChange={event => props.onValue(event.currentTarget.checked)}
    />
    <span>
      {props.label} {props.children}
    </span>
  </label>
)
