// What comes over the page: sheets and questions. The browser's own dialog keeps the focus inside, and gives it back.
import { createSignal, onCleanup, onMount, type ParentComponent, Show } from 'solid-js'
import type { JSX } from 'solid-js'
import { words } from '../words.ts'
import { createAttempt } from './attempt.ts'
import { Icon } from './icon.tsx'

const FIELDS = ['input', 'select', 'textarea'].map(field => `${field}:not(:disabled)`).join()

interface SheetProps {
  title: string
  close: () => void
  /** `side` comes from the right, for forms; `middle` is for questions. */
  at?: 'side' | 'middle'
}

export const Sheet: ParentComponent<SheetProps> = props => {
  let dialog!: HTMLDialogElement
  let cross!: HTMLButtonElement
  onMount(() => {
    dialog.showModal()
    // The browser takes the first button, which closes. Who asks for nothing else wants to fill in the first field;
    // with a finger, its keyboard would hide the rest.
    if (document.activeElement !== cross || matchMedia('(pointer: coarse)').matches) return
    dialog.querySelector<HTMLElement>(FIELDS)?.focus()
  })
  onCleanup(() => dialog.close())
  const closeOutside = (event: MouseEvent) => event.target === dialog && props.close()
  return (
    <dialog
      ref={dialog}
      class={`sheet ${props.at ?? 'side'}`}
      aria-labelledby="sheet-title"
      onCancel={event => {
        event.preventDefault()
        props.close()
      }}
      onMouseDown={closeOutside}
    >
      <div class="sheet-body">
        <header>
          <h2 id="sheet-title">{props.title}</h2>
          <button ref={cross} type="button" class="icon" aria-label={words.doing.close} onClick={() => props.close()}>
            <Icon name="cross" />
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  )
}

interface QuestionProps {
  title: string
  /** The button that does it: `Take it back`. */
  verb: string
  isDangerous?: boolean
  /** The button that leaves all as it is: `Keep it`; `Cancel` if it isn't said. */
  safe?: string
  /** Closes the question when it resolves to true; throws or false keeps it open. */
  act: () => Promise<boolean>
  close: () => void
}

/** A question before what can't be taken back. The safe button has the focus. */
export const Question: ParentComponent<QuestionProps> = props => {
  const { isBusy, refusal, attempt } = createAttempt(props)
  return (
    <Sheet title={props.title} at="middle" close={props.close}>
      <div class="question">{props.children}</div>
      <Refusal words={refusal()} />
      <div class="tools end">
        <button type="button" class="btn quiet" autofocus={true} onClick={() => props.close()}>
          {props.safe ?? words.doing.cancel}
        </button>
        <button
          type="button"
          classList={{ btn: true, danger: props.isDangerous ?? false, primary: !props.isDangerous }}
          disabled={isBusy()}
          onClick={() => void attempt()}
        >
          {props.verb}
        </button>
      </div>
    </Sheet>
  )
}

/** Why something was refused, told at once to screen readers. */
export const Refusal = (props: { words: string | null }): JSX.Element => (
  <Show when={props.words}>
    {said => (
      <p class="refusal" role="alert">
        <Icon name="warn" />
        <span>{said()}</span>
      </p>
    )}
  </Show>
)

/** Which sheet is open, and about what. */
export function createSheet<T>(): { value: () => T | null; open: (value: T) => void; close: () => void } {
  const [value, setValue] = createSignal<T | null>(null)
  return { value, open: given => setValue(() => given), close: () => setValue(null) }
}
