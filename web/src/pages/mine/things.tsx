// What the sheets of this page share: a list of things that can be deleted, and a secret that is shown once.
import { createSignal, type JSX, For, type ParentComponent, Show } from 'solid-js'
import { carryOut } from '../../data/doing.ts'
import type { Holdfast } from '../../../../src/client/index.ts'
import { CopyLine } from '../../parts/copy.tsx'
import { words } from '../../words.ts'

export interface Thing {
  id: string
  name: string
  about: string
}

interface ThingsProps {
  things: readonly Thing[]
  /** What is lost with it. */
  lost: string
  delete: (server: Holdfast, id: string) => Promise<unknown>
  again: () => Promise<void>
  /** More that can be done with one. */
  more?: (thing: Thing) => JSX.Element
}

/** Deleting is asked for once more, in place: it can't be undone. */
export const Things = (props: ThingsProps): JSX.Element => {
  const [asked, setAsked] = createSignal<string | null>(null)
  const remove = async ({ id, name }: Thing) => {
    setAsked(null)
    await carryOut({ said: words.mine.deleted(name), act: at => props.delete(at, id) })
    await props.again()
  }
  return (
    <ul class="things">
      <For each={props.things}>
        {thing => (
          <li>
            <div class="tools">
              <span class="grow cut">
                <b class="med">{thing.name}</b>
                <br />
                <span class="dimmer">{thing.about}</span>
              </span>
              <Show when={asked() !== thing.id}>
                {props.more?.(thing)}
                <button
                  type="button"
                  class="btn small quiet danger"
                  aria-label={words.mine.deleteOf(thing.name)}
                  onClick={() => setAsked(thing.id)}
                >
                  {words.mine.delete}
                </button>
              </Show>
            </div>
            <Show when={asked() === thing.id}>
              <div class="tools" role="alertdialog" aria-label={words.mine.sure(thing.name)}>
                <span class="grow dim">{props.lost}</span>
                <button
                  ref={safe => queueMicrotask(() => safe.focus())}
                  type="button"
                  class="btn small quiet"
                  onClick={() => setAsked(null)}
                >
                  {words.doing.cancel}
                </button>
                <button type="button" class="btn small danger" onClick={() => void remove(thing)}>
                  {words.mine.delete}
                </button>
              </div>
            </Show>
          </li>
        )}
      </For>
    </ul>
  )
}

/** What was made, with what is never shown again. */
export const Once: ParentComponent<{ lines: readonly { label: string; text: string }[]; done: () => void }> = props => (
  <div class="once" role="status">
    <For each={props.lines}>
      {({ label, text }) => (
        <div>
          <p class="dim">{label}</p>
          <CopyLine text={text} />
        </div>
      )}
    </For>
    <p class="strong">{props.children ?? words.mine.once}</p>
    <div class="tools end">
      <button type="button" class="btn primary" onClick={() => props.done()}>
        {words.mine.done}
      </button>
    </div>
  </div>
)
