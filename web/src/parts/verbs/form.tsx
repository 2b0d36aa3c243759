// A sheet with a form: what is asked, what was refused, and the button that does it.
import { createSignal, onCleanup, type ParentComponent } from 'solid-js'
import { reasonOf } from '../../data/doing.ts'
import { words } from '../../words.ts'
import { Refusal, Sheet } from '../sheet.tsx'
import './verbs.css'

interface FormProps {
  title: string
  /** The button that does it. */
  verb: string
  isDangerous?: boolean
  /** Not while something is missing or refused. */
  isReady?: boolean
  /** True closes it. What it throws is shown. */
  act: () => Promise<boolean>
  close: () => void
}

export const Form: ParentComponent<FormProps> = props => {
  const [isBusy, setIsBusy] = createSignal(false)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  // Whoever closes it meanwhile may have opened another.
  let isThere = true
  onCleanup(() => (isThere = false))
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (isBusy() || props.isReady === false) return
    setIsBusy(true)
    setRefusal(null)
    try {
      if ((await props.act()) && isThere) props.close()
    } catch (error) {
      setRefusal(reasonOf(error))
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <Sheet title={props.title} at="middle" close={props.close}>
      <form class="ask" onSubmit={event => void submit(event)}>
        {props.children}
        <Refusal words={refusal()} />
        <div class="tools end">
          <button type="button" class="btn quiet" autofocus={props.isDangerous ?? false} onClick={() => props.close()}>
            {words.doing.cancel}
          </button>
          <button
            classList={{ btn: true, danger: props.isDangerous ?? false, primary: !props.isDangerous }}
            disabled={isBusy() || props.isReady === false}
          >
            {props.verb}
          </button>
        </div>
      </form>
    </Sheet>
  )
}
