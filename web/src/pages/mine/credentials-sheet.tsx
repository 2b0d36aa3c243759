// Application credentials: for programs, in place of the password. The secret is shown once.
import { type Component, createSignal, Show } from 'solid-js'
import type { ApplicationCredential, NewApplicationCredential } from '../../../../src/client/people.ts'
import { serverNow, when } from '../../data/clock.ts'
import type { Kept } from '../../data/kept.ts'
import { server } from '../../data/session.ts'
import { TextField, TimeField } from '../../parts/fields.tsx'
import { Refusal, Sheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { createSubmit } from './submit.ts'
import { Once, Things } from './things.tsx'

/** The identity API says UTC without saying so. */
const instantOf = (date: string) => (date.endsWith('Z') ? date : `${date}Z`)

export const CredentialsSheet: Component<{ kept: Kept<ApplicationCredential[]>; close: () => void }> = props => {
  const [made, setMade] = createSignal<NewApplicationCredential | null>(null)
  const things = () =>
    (props.kept.value() ?? []).map(({ id, name, roles, expires_at }) => ({
      id,
      name,
      about: `${roles.map(role => role.name).join(', ')}, ${words.mine.credentials.endsAt(expires_at === null ? null : when(instantOf(expires_at)))}`,
    }))
  return (
    <Sheet title={words.mine.credentials.title} close={props.close}>
      <p class="dim">{words.mine.credentials.what}</p>
      <Things
        things={things()}
        lost={words.mine.credentials.lost}
        delete={(at, id) => at.users.deleteCredential(at.user!, id)}
        again={props.kept.again}
      />
      <Show
        when={made()}
        fallback={
          <NewCredential
            made={credential => {
              setMade(credential)
              void props.kept.again()
            }}
          />
        }
      >
        {credential => (
          <Once
            lines={[
              { label: words.mine.credentials.id, text: credential().id },
              { label: words.mine.credentials.secret, text: credential().secret },
            ]}
            done={() => setMade(null)}
          />
        )}
      </Show>
    </Sheet>
  )
}

const NewCredential: Component<{ made: (credential: NewApplicationCredential) => void }> = props => {
  const [name, setName] = createSignal('')
  const [end, setEnd] = createSignal<number | null>(null)
  const { submit, refusal, isBusy } = createSubmit({
    read: () => (name().trim() === '' ? words.mine.credentials.missing : { name: name().trim() }),
    act: async typed => {
      const expires = end() === null ? undefined : new Date(end()!).toISOString()
      const { users, user } = server()
      props.made(await users.createCredential(user!, { ...typed, expires_at: expires }))
    },
  })
  return (
    <form class="new" onSubmit={submit}>
      <TextField label={words.mine.name} value={name()} onValue={setName} isRequired />
      <TimeField
        label={words.mine.credentials.ends}
        value={end()}
        onValue={setEnd}
        onClear={() => setEnd(null)}
        hint={words.mine.credentials.endsHint}
        check={at => (at <= serverNow() ? words.mine.credentials.isPast : null)}
      />
      <Refusal words={refusal()} />
      <div class="tools end">
        <button class="btn primary" disabled={isBusy()}>
          {words.mine.credentials.make}
        </button>
      </div>
    </form>
  )
}
