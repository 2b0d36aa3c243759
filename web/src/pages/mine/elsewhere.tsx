// Where else it can be seen and used: calendar programs, webhooks, scripts; and the password.
import { type Component, createSignal, type JSX, Match, Show, Switch } from 'solid-js'
import { when } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { createKept } from '../../data/kept.ts'
import { config, server } from '../../data/session.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { words } from '../../words.ts'
import { CalendarsSheet } from './calendars-sheet.tsx'
import { CredentialsSheet } from './credentials-sheet.tsx'
import { PasswordSheet } from './password-sheet.tsx'
import { WebhooksSheet } from './webhooks-sheet.tsx'

type Open = 'calendars' | 'webhooks' | 'credentials' | 'password' | null

export const Elsewhere: Component = () => {
  const [open, setOpen] = createSignal<Open>(null)
  const close = () => setOpen(null)
  const calendars = createKept(at => at.calendars.list())
  const webhooks = createKept(at => at.webhooks.list())
  const isOurs = () => config()?.identity === 'password' && server().user !== null
  const credentials = createKept(async at => (isOurs() ? at.users.credentials(at.user!) : []))
  const lastRead = () =>
    (calendars.value() ?? [])
      .flatMap(({ last_read_at }) => last_read_at ?? [])
      .toSorted()
      .at(-1) ?? null
  return (
    <section class="card sd">
      <header>
        <h2>{words.mine.elsewhere}</h2>
      </header>
      <ul>
        <Show when={calendars.value()}>
          {all => (
            <Entry
              icon="calendar"
              title={words.mine.calendar.title}
              text={
                all().length === 0
                  ? words.mine.calendar.none
                  : words.mine.calendar.some(all().length, lastRead() === null ? null : when(lastRead()!))
              }
              verb={all().length === 0 ? words.mine.make : words.mine.manage}
              act={() => setOpen('calendars')}
            />
          )}
        </Show>
        <Show when={webhooks.value()}>
          {all => (
            <Show when={all().length > 0 || fleet.me().may.includes('create webhook')}>
              <Entry
                icon="bell"
                title={words.mine.webhooks.title}
                text={
                  all().length === 0
                    ? words.mine.webhooks.none(fleet.me().project)
                    : words.mine.webhooks.some(all().length, all().filter(({ state }) => state !== 'active').length)
                }
                verb={all().length === 0 ? words.mine.add : words.mine.manage}
                act={() => setOpen('webhooks')}
              />
            </Show>
          )}
        </Show>
        <Show when={isOurs()}>
          <Show when={credentials.value()}>
            {all => (
              <Entry
                icon="key"
                title={words.mine.credentials.title}
                text={all().length === 0 ? words.mine.credentials.none : words.mine.credentials.some(all().length)}
                verb={all().length === 0 ? words.mine.add : words.mine.manage}
                act={() => setOpen('credentials')}
              />
            )}
          </Show>
          <Entry
            icon="person"
            title={words.mine.password.title}
            text={words.mine.password.what}
            verb={words.mine.password.change}
            act={() => setOpen('password')}
          />
        </Show>
      </ul>
      <Switch>
        <Match when={open() === 'calendars'}>
          <CalendarsSheet kept={calendars} close={close} />
        </Match>
        <Match when={open() === 'webhooks'}>
          <WebhooksSheet kept={webhooks} close={close} />
        </Match>
        <Match when={open() === 'credentials'}>
          <CredentialsSheet kept={credentials} close={close} />
        </Match>
        <Match when={open() === 'password'}>
          <PasswordSheet close={close} />
        </Match>
      </Switch>
    </section>
  )
}

interface EntryProps {
  icon: IconName
  title: string
  text: string
  verb: string
  act: () => void
}

const Entry = (props: EntryProps): JSX.Element => (
  <li>
    <Icon name={props.icon} />
    <span class="grow">
      <b class="med">{props.title}</b>
      <br />
      <span class="dimmer">{props.text}</span>
    </span>
    <button type="button" class="btn small" aria-label={`${props.title}: ${props.verb}`} onClick={() => props.act()}>
      {props.verb}
    </button>
  </li>
)
