// Changes the password. All tokens of the old one end, so one is logged in again at once.
import type { Component } from 'solid-js'
import { ApiError } from '../../../../src/client/errors.ts'
import { reasonOf, tell } from '../../data/doing.ts'
import { enter, login, server } from '../../data/session.ts'
import { Refusal, Sheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { createSubmit } from './submit.ts'

const DOMAIN = { name: 'Default' }

export const PasswordSheet: Component<{ close: () => void }> = props => {
  const { submit, refusal, isBusy } = createSubmit({
    read: form => {
      const typed = new FormData(form)
      const [present, wanted] = [textIn(typed, 'present'), textIn(typed, 'wanted')]
      if (wanted !== textIn(typed, 'again')) return words.mine.password.differ
      return wanted === present ? words.mine.password.same : { present, wanted }
    },
    act: async ({ present, wanted }) => {
      await change(present, wanted)
      props.close()
      tell({ text: words.mine.password.changed, kind: 'done', action: null })
    },
    // A wrong password is refused as an ended login is: it isn't one.
    why: error => (isUnauthorized(error) ? words.mine.password.wrong : reasonOf(error)),
  })
  return (
    <Sheet title={words.mine.password.title} at="middle" close={props.close}>
      <form class="new" onSubmit={submit}>
        <Secret name="present" label={words.mine.password.present} complete="current-password" />
        <Secret name="wanted" label={words.mine.password.wanted} complete="new-password" />
        <Secret name="again" label={words.mine.password.again} complete="new-password" />
        <Refusal words={refusal()} />
        <div class="tools end">
          <button type="button" class="btn quiet" onClick={() => props.close()}>
            {words.doing.cancel}
          </button>
          <button class="btn primary" disabled={isBusy()}>
            {words.mine.password.act}
          </button>
        </div>
      </form>
    </Sheet>
  )
}

const isUnauthorized = (error: unknown) => error instanceof ApiError && error.status === 401

async function change(present: string, wanted: string): Promise<void> {
  const { users, user } = server()
  const who = login()?.who
  await users.changePassword(user!, present, wanted)
  if (!who) return
  await enter({
    kind: 'password',
    user: { name: who.user, domain: DOMAIN },
    password: wanted,
    project: who.project === null ? null : { name: who.project, domain: DOMAIN },
    isSystem: false,
  })
}

const textIn = (form: FormData, name: string) => {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}

const Secret: Component<{ name: string; label: string; complete: string }> = props => (
  <label class="stacked">
    {props.label}
    <input class="field" type="password" name={props.name} autocomplete={props.complete} required />
  </label>
)
