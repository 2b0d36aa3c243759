// The login: a name and a password, or an application credential.
import { type Component, createSignal, Show } from 'solid-js'
import type { Credentials } from '../../../src/client/where.ts'
import { reasonOf } from '../data/doing.ts'
import { config, enter, hasEnded } from '../data/session.ts'
import { Refusal } from '../parts/sheet.tsx'
import { words } from '../words.ts'

const DOMAIN = 'Default'

export const LogIn: Component = () => {
  const [isCredential, setIsCredential] = createSignal(false)
  const [refusal, setRefusal] = createSignal<string | null>(hasEnded() ? words.login.ended : null)
  const [isBusy, setIsBusy] = createSignal(false)

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (isBusy()) return
    const form = new FormData(event.currentTarget as HTMLFormElement)
    setIsBusy(true)
    setRefusal(null)
    try {
      await enter(isCredential() ? credentialIn(form) : passwordIn(form))
    } catch (error) {
      setRefusal(reasonOf(error))
    } finally {
      setIsBusy(false)
    }
  }

  return (
    <main>
      <form class="login card" onSubmit={event => void submit(event)}>
        <h1>
          Holdfast <span class="dimmer">{location.host}</span>
        </h1>
        <Show
          when={isCredential()}
          fallback={
            <>
              <Field name="user" label={words.login.user} complete="username" isRequired isFirst />
              <Field name="password" label={words.login.password} complete="current-password" isSecret isRequired />
              <Field name="project" label={words.login.project} hint={words.login.projectHint} complete="off" />
              <Show when={config()?.identity === 'keystone'}>
                <Field name="domain" label={words.login.domain} hint={DOMAIN} complete="off" />
              </Show>
            </>
          }
        >
          <Field name="credential" label={words.login.credential} complete="off" isRequired isFirst />
          <Field name="secret" label={words.login.secret} complete="off" isSecret isRequired />
        </Show>
        <Refusal words={refusal()} />
        <div class="tools">
          <button class="btn primary" disabled={isBusy()}>
            {words.login.enter}
          </button>
          <button type="button" class="btn quiet" onClick={() => setIsCredential(!isCredential())}>
            {isCredential() ? words.login.withPassword : words.login.withCredential}
          </button>
        </div>
      </form>
    </main>
  )
}

interface FieldProps {
  name: string
  label: string
  hint?: string
  complete: string
  isSecret?: boolean
  isRequired?: boolean
  /** It has the focus when it comes. */
  isFirst?: boolean
}

const Field: Component<FieldProps> = props => (
  <label class="stacked">
    {props.label}
    <input
      class="field"
      name={props.name}
      type={props.isSecret ? 'password' : 'text'}
      autocomplete={props.complete}
      placeholder={props.hint}
      required={props.isRequired}
      ref={input => props.isFirst && queueMicrotask(() => input.focus())}
      autocapitalize="none"
      spellcheck={false}
    />
  </label>
)

const secretIn = (form: FormData, name: string) => {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}
const textIn = (form: FormData, name: string) => secretIn(form, name).trim()

function passwordIn(form: FormData): Credentials {
  const domain = { name: textIn(form, 'domain') || DOMAIN }
  const project = textIn(form, 'project')
  return {
    kind: 'password',
    user: { name: textIn(form, 'user'), domain },
    password: secretIn(form, 'password'),
    project: project === '' ? null : { name: project, domain },
    isSystem: false,
  }
}

const credentialIn = (form: FormData): Credentials => ({
  kind: 'application credential',
  credential: { id: textIn(form, 'credential') },
  user: null,
  secret: secretIn(form, 'secret'),
})
