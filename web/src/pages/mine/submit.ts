// A form that is sent once at a time: what is wrong or was refused is said, and what was typed stays.
import { type Accessor, createSignal } from 'solid-js'
import { reasonOf } from '../../data/doing.ts'

interface Submitting<T> {
  /** What is typed; a text if something is wrong with it. */
  read: (form: HTMLFormElement) => T | string
  act: (typed: T) => Promise<void>
  /** Why it failed, in words. */
  why?: (error: unknown) => string
}

interface Submitted {
  submit: (event: SubmitEvent) => void
  refusal: Accessor<string | null>
  isBusy: Accessor<boolean>
}

export function createSubmit<T extends object>({ read, act, why = reasonOf }: Submitting<T>): Submitted {
  const [refusal, setRefusal] = createSignal<string | null>(null)
  const [isBusy, setIsBusy] = createSignal(false)
  const send = async (typed: T) => {
    setIsBusy(true)
    try {
      await act(typed)
    } catch (error) {
      setRefusal(why(error))
    } finally {
      setIsBusy(false)
    }
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (isBusy()) return
    const typed = read(event.currentTarget as HTMLFormElement)
    setRefusal(typeof typed === 'string' ? typed : null)
    if (typeof typed !== 'string') void send(typed)
  }
  return { submit, refusal, isBusy }
}
