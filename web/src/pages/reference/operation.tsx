// One operation: what it takes, what it answers, who may use it, and a form to try it.
import { type Component, createSignal, For, Show } from 'solid-js'
import { words } from '../../words.ts'
import { type Document, followed, type Operation, type Parameter, type Schema, typeOf } from './document.ts'
import { TryIt } from './try-it.tsx'

interface OperationProps {
  document: Document
  operation: Operation
}

export const OperationPart: Component<OperationProps> = props => {
  const [isOpen, setIsOpen] = createSignal(false)
  return (
    <details class="op" onToggle={event => setIsOpen(event.currentTarget.open)}>
      <summary>
        <b class={`method m-${props.operation.method.toLowerCase()}`}>{props.operation.method}</b>
        <code class="cut">{props.operation.path}</code>
        <span class="dim grow cut">{props.operation.summary}</span>
      </summary>
      <Show when={isOpen()}>
        <div class="op-body">
          <Show when={props.operation.description}>
            <p class="dim">{props.operation.description}</p>
          </Show>
          <Show when={props.operation.policy}>
            {policy => (
              <p class="dimmer">
                {words.reference.who(policy().rule)} <code>{policy().action}</code>
              </p>
            )}
          </Show>
          <Fields
            document={props.document}
            title={words.reference.parameters}
            rows={rowsOf(props.operation.parameters)}
          />
          <Show when={props.operation.body}>
            {body => (
              <Fields
                document={props.document}
                title={words.reference.body}
                rows={propertiesOf(props.document, body())}
              />
            )}
          </Show>
          <For each={props.operation.answers.filter(({ schema }) => schema !== null)}>
            {answer => (
              <Fields
                document={props.document}
                title={words.reference.answer(answer.status)}
                rows={propertiesOf(props.document, answer.schema!)}
              />
            )}
          </For>
          <TryIt document={props.document} operation={props.operation} />
        </div>
      </Show>
    </details>
  )
}

interface Row {
  name: string
  schema: Schema | undefined
  isRequired: boolean
  text: string
}

const rowsOf = (parameters: readonly Parameter[]): Row[] =>
  parameters.map(({ name, schema, required, description }) => ({
    name,
    schema,
    isRequired: required ?? false,
    text: description ?? schema?.description ?? '',
  }))

function propertiesOf(document: Document, schema: Schema): Row[] {
  const { properties = {}, required = [] } = followed<Schema>(document, schema)
  return Object.entries(properties).map(([name, one]) => ({
    name,
    schema: one,
    isRequired: required.includes(name),
    text: one.description ?? '',
  }))
}

const Fields: Component<{ document: Document; title: string; rows: readonly Row[] }> = props => (
  <Show when={props.rows.length > 0}>
    <h3>{props.title}</h3>
    <dl class="fields">
      <For each={props.rows}>
        {row => (
          <>
            <dt>
              <code>{row.name}</code>
              <Show when={row.isRequired}>
                <span class="dimmer"> {words.reference.required}</span>
              </Show>
            </dt>
            <dd>
              <span class="dim">{typeOf(props.document, row.schema)}</span> {row.text}
            </dd>
          </>
        )}
      </For>
    </dl>
  </Show>
)
