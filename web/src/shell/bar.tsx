// The bar at the top, and the tabs at the foot of a phone.
import { useLocation, useNavigate } from '@solidjs/router'
import { type Component, createMemo, createResource, For, Match, Show, Switch } from 'solid-js'
import { isUtc, lasting, minute, second, serverNow, switchZone, utc, wallTime, zoneName } from '../data/clock.ts'
import { fleet } from '../data/fleet.ts'
import { lastHeard, liveness } from '../data/live.ts'
import { ownProjects, switchProject } from '../data/projects.ts'
import { hasAccounts, leave, login } from '../data/session.ts'
import { reasonOf, tell } from '../data/doing.ts'
import { switchTheme, theme } from '../data/theme.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { words } from '../words.ts'

interface Page {
  path: string
  text: string
  icon: IconName
  pip?: () => { number: number; title: string; isHot: boolean }
  /** Who it is for; everyone if it isn't said. */
  isFor?: () => boolean
}

const waits = () => fleet.waiting().filter(({ state }) => state === 'waiting').length
const failed = createRootMemo(() => fleet.machines().filter(({ state }) => state === 'broken').length)
const seesCapacity = () => fleet.me().may.includes('see capacity')
const isOperator = () => fleet.me().may.includes('see health')

const PAGES: readonly Page[] = [
  { path: '/now', text: words.shell.now, icon: 'tiles' },
  { path: '/calendar', text: words.shell.calendar, icon: 'gantt' },
  {
    path: '/queue',
    text: words.shell.queue,
    icon: 'queue',
    pip: () => ({ number: waits(), title: words.shell.wait(waits()), isHot: false }),
  },
  { path: '/mine', text: words.shell.mine, icon: 'person' },
  { path: '/capacity', text: words.shell.capacity, icon: 'rows', isFor: seesCapacity },
  {
    path: '/operator',
    text: words.shell.operator,
    icon: 'warn',
    isFor: isOperator,
    pip: () => ({ number: failed(), title: words.shell.failed(failed()), isHot: true }),
  },
]

/** On a phone, the first four have a tab; the others are behind "More". */
const TABS = 4

function createRootMemo(read: () => number): () => number {
  let memo: (() => number) | undefined
  return () => (memo ??= createMemo(read))()
}

const shown = () => PAGES.filter(({ isFor }) => isFor?.() ?? true)

const Link: Component<{ page: Page; hasIcon?: boolean }> = props => {
  const location = useLocation()
  const isHere = () => location.pathname.startsWith(`/ui${props.page.path}`)
  const pip = () => props.page.pip?.()
  return (
    <a href={`/ui${props.page.path}`} aria-current={isHere() ? 'page' : undefined}>
      <Show when={props.hasIcon}>
        <Icon name={props.page.icon} />
      </Show>
      <span>{props.page.text}</span>
      <Show when={(pip()?.number ?? 0) > 0 && pip()}>
        {found => (
          <span classList={{ pip: true, hot: found().isHot }} title={found().title}>
            {found().number}
          </span>
        )}
      </Show>
    </a>
  )
}

export const Bar: Component<{ find: () => void; keys: () => void }> = props => (
  <header class="bar">
    <a class="brand" href="/ui/now">
      <svg viewBox="0 0 22 22" aria-hidden="true">
        <rect x="2.5" y="2" width="4" height="18" rx="1.6" fill="currentColor" />
        <rect x="15.5" y="2" width="4" height="18" rx="1.6" fill="currentColor" />
        <path d="M4.5 11h13" stroke="currentColor" stroke-width="3.2" />
        <circle cx="11" cy="11" r="3.3" fill="var(--surface)" stroke="currentColor" stroke-width="2.2" />
      </svg>
      <span>Holdfast</span>
    </a>
    <nav class="nav" aria-label={words.shell.pages}>
      <For each={shown()}>{page => <Link page={page} />}</For>
    </nav>
    <span class="grow" />
    <button type="button" class="find" onClick={() => props.find()} aria-label={words.shell.find}>
      <Icon name="search" />
      <span class="grow cut">{words.shell.find}</span>
      <kbd>/</kbd>
    </button>
    <Live />
    <button
      type="button"
      class="clock btn quiet"
      title={utc(minute())}
      aria-label={words.shell.zone(`${wallTime(minute())} ${zoneName()}`, isUtc() ? 'local time' : 'UTC')}
      onClick={switchZone}
    >
      <span>
        <b>{wallTime(minute())}</b> {zoneName()}
      </span>
    </button>
    <button type="button" class="icon theme" aria-label={words.shell.theme} onClick={switchTheme}>
      <Icon name={theme() === 'dark' ? 'sun' : 'moon'} />
    </button>
    <Me keys={() => props.keys()} />
  </header>
)

const Live: Component = () => {
  const ago = () => {
    second()
    return lasting(Math.max(0, serverNow() - lastHeard()))
  }
  return (
    <Switch>
      <Match when={liveness().state === 'live'}>
        <span class="live" title={words.shell.liveSince(ago())}>
          <i />
          <span>{words.shell.live}</span>
        </span>
      </Match>
      <Match when={liveness().state === 'connecting'}>
        <span class="live connecting">
          <i />
          <span>{words.shell.connecting}</span>
        </span>
      </Match>
      <Match when={true}>
        <span class="live lost">
          <i />
          <span>{words.shell.notLive}</span>
        </span>
      </Match>
    </Switch>
  )
}

const Me: Component<{ keys: () => void }> = props => {
  const navigate = useNavigate()
  const user = () => fleet.me().user ?? words.shell.anyone
  // Who can't be told their projects stays where they are.
  const [projects] = createResource(login, () => (hasAccounts() ? ownProjects().catch(() => []) : []))
  const others = () => (projects.latest ?? []).filter(({ id }) => id !== login()?.project)
  const refuse = (error: unknown) => tell({ text: words.doing.refused(reasonOf(error)), kind: 'refused', action: null })
  const items = (): MenuItem[] => [
    { text: words.shell.mine, act: () => navigate('/mine') },
    { text: words.shell.api, act: () => navigate('/reference') },
    { text: words.shell.keys, act: () => props.keys() },
    ...others().map(project => ({
      text: words.shell.switchTo(project.name),
      act: () => void switchProject(project).catch(refuse),
    })),
    ...(hasAccounts() ? [{ text: words.shell.logOut, act: () => void leave('asked') }] : []),
  ]
  const face = (
    <>
      <span class="av" data-letter={user().slice(0, 1)} />
      <span class="who">
        <b class="med">{user()}</b> <span class="dimmer">{fleet.me().project}</span>
      </span>
    </>
  )
  return <Menu class="me btn quiet" label={words.shell.me(user(), fleet.me().project)} face={face} items={items()} />
}

export const Tabs: Component = () => {
  const navigate = useNavigate()
  const more = (): MenuItem[] =>
    [...shown().slice(TABS), { path: '/reference', text: words.shell.api }].map(({ path, text }) => ({
      text,
      act: () => navigate(path),
    }))
  const face = (
    <>
      <Icon name="more" />
      <span>{words.shell.more}</span>
    </>
  )
  return (
    <nav class="tabs" aria-label={words.shell.pages}>
      <For each={shown().slice(0, TABS)}>{page => <Link page={page} hasIcon />}</For>
      <Menu class="tab-more" label={words.shell.more} face={face} items={more()} />
    </nav>
  )
}
