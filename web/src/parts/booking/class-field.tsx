// Which class of machines: one of those that are seen, or any other by its name, because not everyone sees all machines.
import { type Component, createMemo, createSignal, Show } from 'solid-js'
import { fleet } from '../../data/fleet.ts'
import { words } from '../../words.ts'
import { SelectField, TextField } from '../fields.tsx'

interface ClassProps {
  value: string
  onValue: (value: string) => void
  isInline?: boolean
  /** Only those that leases may book. */
  isBookable?: boolean
  error?: string | null
}

const OTHER = ''

export const ClassField: Component<ClassProps> = props => {
  const [isTyped, setIsTyped] = createSignal(false)
  const classes = createMemo(() => {
    const found = new Set<string>()
    for (const machine of fleet.machines())
      if (machine.class !== null && (machine.bookable || props.isBookable === false)) found.add(machine.class)
    return [...found].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  })
  const options = () => [
    ...classes().map(name => ({ value: name, text: name })),
    { value: OTHER, text: words.booking.otherClass },
  ]
  const choose = (value: string) => {
    if (value === OTHER) setIsTyped(true)
    else props.onValue(value)
  }
  return (
    <Show
      when={!isTyped() && classes().length > 0}
      fallback={
        <TextField
          label={words.booking.class}
          isInline={props.isInline ?? false}
          value={props.value}
          placeholder={words.booking.classExample}
          error={props.error ?? null}
          onValue={value => props.onValue(value.trim())}
        />
      }
    >
      <SelectField
        label={words.booking.class}
        isInline={props.isInline ?? false}
        value={props.value === '' ? null : props.value}
        options={options()}
        error={props.error ?? null}
        onValue={choose}
      />
    </Show>
  )
}
