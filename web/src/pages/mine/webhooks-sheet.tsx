// Webhooks of the project: added, tried, deleted. The secret is shown once.
import { type Component, createSignal, Show } from 'solid-js'
import type { Webhook } from '../../../../src/client/webhooks.ts'
import { reasonOf, tell } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import type { Kept } from '../../data/kept.ts'
import { server } from '../../data/session.ts'
import { TextField } from '../../parts/fields.tsx'
import { Refusal, Sheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { createSubmit } from './submit.ts'
import { Once, type Thing, Things } from './things.tsx'

export const WebhooksSheet: Component<{ kept: Kept<Webhook[]>; close: () => void }> = props => {
  const [secret, setSecret] = createSignal<{ text: string | null } | null>(null)
  const things = () =>
    (props.kept.value() ?? []).map(({ uuid, name, url, state, reason }) => ({
      id: uuid,
      name,
      about: state === 'active' ? url : `${state}${reason === null ? '' : `: ${reason}`}`,
    }))
  return (
    <Sheet title={words.mine.webhooks.title} close={props.close}>
      <p class="dim">{words.mine.webhooks.what}</p>
      <Things
        things={things()}
        lost={words.mine.webhooks.lost}
        delete={(at, id) => at.webhooks.delete(id)}
        again={props.kept.again}
        more={thing => <Test thing={thing} />}
      />
      <Show
        when={secret()}
        fallback={
          <Show when={fleet.me().may.includes('create webhook')}>
            <NewWebhook
              made={text => {
                setSecret({ text })
                void props.kept.again()
              }}
            />
          </Show>
        }
      >
        {made => (
          <Once
            lines={made().text === null ? [] : [{ label: words.mine.webhooks.secret, text: made().text! }]}
            done={() => setSecret(null)}
          >
            {made().text === null ? words.mine.webhooks.noSecret : words.mine.once}
          </Once>
        )}
      </Show>
    </Sheet>
  )
}

const Test: Component<{ thing: Thing }> = props => {
  const [isBusy, setIsBusy] = createSignal(false)
  const [said, setSaid] = createSignal<string | null>(null)
  const test = async () => {
    setIsBusy(true)
    try {
      const { delivered, status, ms, error, text } = await server().webhooks.test(props.thing.id)
      setSaid(
        delivered
          ? words.mine.webhooks.delivered(status, ms)
          : words.mine.webhooks.failed(error ?? `${status ?? ''} ${text}`),
      )
    } catch (error) {
      tell({ text: words.doing.refused(reasonOf(error)), kind: 'refused', action: null })
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <>
      <Show when={said()}>
        {text => (
          <span class="said dim" role="status">
            {text()}
          </span>
        )}
      </Show>
      <button
        type="button"
        class="btn small"
        aria-label={words.mine.webhooks.testOf(props.thing.name)}
        disabled={isBusy()}
        onClick={() => void test()}
      >
        {words.mine.webhooks.test}
      </button>
    </>
  )
}

const NewWebhook: Component<{ made: (secret: string | null) => void }> = props => {
  const [url, setUrl] = createSignal('')
  const [name, setName] = createSignal('')
  const [types, setTypes] = createSignal('')
  const { submit, refusal, isBusy } = createSubmit({
    read: () => (url().trim() === '' ? words.mine.webhooks.missing : { url: url().trim() }),
    act: async typed => {
      const wanted = types()
        .split(/[\s,]+/)
        .filter(word => word !== '')
      const made = await server().webhooks.create({
        ...typed,
        name: name().trim() || undefined,
        types: wanted.length === 0 ? undefined : wanted,
      })
      props.made(made.secret)
    },
  })
  return (
    <form class="new" onSubmit={submit}>
      <TextField label={words.mine.webhooks.url} value={url()} onValue={setUrl} hint={words.mine.webhooks.urlHint} />
      <TextField label={words.mine.name} value={name()} onValue={setName} />
      <TextField
        label={words.mine.webhooks.types}
        value={types()}
        onValue={setTypes}
        hint={words.mine.webhooks.typesHint}
      />
      <Refusal words={refusal()} />
      <div class="tools end">
        <button class="btn primary" disabled={isBusy()}>
          {words.mine.webhooks.make}
        </button>
      </div>
    </form>
  )
}
