// Sends a request of the reference for real, as the one who is logged in, and shows the answer.
import { type Component, createSignal, For, Show } from 'solid-js'
import { reasonOf } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { login } from '../../data/session.ts'
import { Refusal } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { addressOf, type Document, exampleOf, type Operation } from './document.ts'

/** As much of an answer as is shown. */
const SHOWN_MAX = 50_000
const TIMEOUT_MS = 30_000

interface Answered {
  status: number
  type: string
  text: string
  isCut: boolean
}

export const TryIt: Component<{ document: Document; operation: Operation }> = props => {
  const [answered, setAnswered] = createSignal<Answered | null>(null)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  const [isBusy, setIsBusy] = createSignal(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (isBusy()) return
    setIsBusy(true)
    setRefusal(null)
    setAnswered(null)
    try {
      setAnswered(await send(props.operation, new FormData(event.currentTarget as HTMLFormElement)))
    } catch (error) {
      setRefusal(reasonOf(error))
    } finally {
      setIsBusy(false)
    }
  }
  const body = () =>
    props.operation.body ? JSON.stringify(exampleOf(props.document, props.operation.body), null, 2) : null
  return (
    <form class="try" onSubmit={event => void submit(event)}>
      <h3>{words.reference.tryIt}</h3>
      <Show when={props.operation.method !== 'GET'}>
        <p class="dimmer">{words.reference.forReal(fleet.me().user ?? words.shell.anyone, fleet.me().project)}</p>
      </Show>
      <div class="inputs">
        <For each={props.operation.parameters}>
          {({ name, in: place, required, schema, example }) => (
            <label class="stacked">
              {name}
              <Show
                when={schema?.enum}
                fallback={
                  <input
                    class="field"
                    name={`${place} ${name}`}
                    value={place === 'header' ? (example ?? '') : ''}
                    required={place === 'path' || required}
                    autocomplete="off"
                    spellcheck={false}
                  />
                }
              >
                {values => (
                  <select class="field" name={`${place} ${name}`}>
                    <option value="" />
                    <For each={values()}>{value => <option>{String(value)}</option>}</For>
                  </select>
                )}
              </Show>
            </label>
          )}
        </For>
      </div>
      <Show when={body()}>
        {text => (
          <label class="stacked">
            {words.reference.body}
            <textarea
              class="field mono"
              name="body"
              rows={Math.min(14, text().split('\n').length + 1)}
              spellcheck={false}
            >
              {text()}
            </textarea>
          </label>
        )}
      </Show>
      <div class="tools">
        <button class="btn primary" disabled={isBusy()}>
          {words.reference.send}
        </button>
        <Show when={answered()}>
          {answer => <span class={answer().status < 400 ? 'st-free' : 'st-broken'}>{answer().status}</span>}
        </Show>
      </div>
      <Refusal words={refusal()} />
      <Show when={answered()}>
        {answer => (
          <>
            <pre class="mono" tabindex="0" aria-label={words.reference.answer(String(answer().status))}>
              {answer().text}
            </pre>
            <Show when={answer().isCut}>
              <p class="dimmer">{words.reference.cut}</p>
            </Show>
          </>
        )}
      </Show>
    </form>
  )
}

async function send({ method, path, parameters }: Operation, form: FormData): Promise<Answered> {
  const given = (place: string) =>
    Object.fromEntries(
      parameters
        .filter(parameter => parameter.in === place)
        .map(({ name }) => [name, textOf(form.get(`${place} ${name}`))] as const)
        .filter(([, value]) => value !== ''),
    )
  const body = form.has('body') ? JSON.stringify(JSON.parse(textOf(form.get('body'))) as unknown) : undefined
  const answer = await fetch(addressOf(path, given('path'), given('query')), {
    method,
    headers: {
      ...login()?.headers,
      ...given('header'),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const text = await answer.text()
  const type = answer.headers.get('content-type') ?? ''
  const shown = type.includes('json') && text !== '' ? JSON.stringify(JSON.parse(text), null, 2) : text
  return { status: answer.status, type, text: shown.slice(0, SHOWN_MAX), isCut: shown.length > SHOWN_MAX }
}

const textOf = (value: FormDataEntryValue | null) => (typeof value === 'string' ? value.trim() : '')
