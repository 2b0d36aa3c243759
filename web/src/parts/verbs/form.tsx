// A sheet with a form: what is asked, what was refused, and the button that does it.
import type { ParentComponent } from 'solid-js'
import { words } from '../../words.ts'
import { createAttempt } from '../attempt.ts'
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
  const { isBusy, refusal, attempt } = createAttempt(props)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (props.isReady !== false) await attempt()
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
