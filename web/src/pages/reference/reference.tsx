// The reference of all APIs, from their own OpenAPI documents, where each operation can be tried.
import './reference.css'
import { A, useParams, useSearchParams } from '@solidjs/router'
import { type Component, createMemo, createResource, For, Show } from 'solid-js'
import { reasonOf } from '../../data/doing.ts'
import { Patience } from '../../parts/empty.tsx'
import { Refusal } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { type Document, operationsIn } from './document.ts'
import { OperationPart } from './operation.tsx'

interface Listed {
  documents: { api: string; title: string; version: string }[]
}

async function read<T>(path: string): Promise<T> {
  const answer = await fetch(path)
  if (!answer.ok) throw new Error(words.reference.notThere(path))
  return (await answer.json()) as T
}

const Reference: Component = () => {
  const params = useParams<{ api?: string }>()
  const [address, setAddress] = useSearchParams<{ q?: string }>()
  const api = () => params.api ?? 'operator'
  const [listed] = createResource(() => read<Listed>('/holdfast/v1/openapi'))
  const [document] = createResource(api, name => read<Document>(`/holdfast/v1/openapi/${encodeURIComponent(name)}`))
  const found = createMemo(() => {
    const sought = (address.q ?? '').toLowerCase()
    const all = document.error || !document() ? [] : operationsIn(document()!)
    return all.filter(({ method, path, summary }) => `${method} ${path} ${summary}`.toLowerCase().includes(sought))
  })
  const groups = createMemo(() => [...Map.groupBy(found(), ({ tag }) => tag)])
  return (
    <div class="page p-reference">
      <h1>{words.reference.title}</h1>
      <div class="tools">
        <nav class="seg" aria-label={words.reference.apis}>
          <For each={listed.error ? [] : listed()?.documents}>
            {({ api: name, title }) => (
              <A href={`/reference/${name}`} aria-current={name === api() ? 'page' : undefined}>
                {title}
              </A>
            )}
          </For>
        </nav>
        <input
          class="field grow"
          type="search"
          aria-label={words.reference.search}
          placeholder={words.reference.search}
          value={address.q ?? ''}
          onInput={event => setAddress({ q: event.currentTarget.value || undefined }, { replace: true })}
        />
      </div>
      <Refusal words={document.error ? reasonOf(document.error) : null} />
      <Show
        when={!document.error && document()}
        fallback={
          <Show when={document.loading}>
            <Patience />
          </Show>
        }
      >
        {open => (
          <>
            <p class="dim">
              {open().info.description} <span class="dimmer">{words.reference.version(open().info.version)}</span>{' '}
              <a class="link" href={`/holdfast/v1/openapi/${api()}`} download={`${api()}.json`}>
                {words.reference.download}
              </a>
            </p>
            <Show when={groups().length > 0} fallback={<p class="dim">{words.reference.none}</p>}>
              <For each={groups()}>
                {([tag, operations]) => (
                  <section class="card">
                    <h2>{tag}</h2>
                    <For each={operations}>
                      {operation => <OperationPart document={open()} operation={operation} />}
                    </For>
                  </section>
                )}
              </For>
            </Show>
          </>
        )}
      </Show>
    </div>
  )
}

export default Reference
