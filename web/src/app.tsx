// The app: who is there, then the shell with a page in it. Each page is loaded when it is first opened.
import { Navigate, Route, Router } from '@solidjs/router'
import { type Component, createResource, lazy, Match, Switch } from 'solid-js'
import { login, open, viewer } from './data/session.ts'
import { reasonOf } from './data/doing.ts'
import { Empty, Patience } from './parts/empty.tsx'
import { words } from './words.ts'
import { Shell } from './shell/shell.tsx'
import { LogIn } from './shell/login.tsx'

const Now = lazy(() => import('./pages/now/now.tsx'))
const Calendar = lazy(() => import('./pages/calendar/calendar.tsx'))
const Queue = lazy(() => import('./pages/queue/queue.tsx'))
const Machine = lazy(() => import('./pages/machine/machine.tsx'))
const Mine = lazy(() => import('./pages/mine/mine.tsx'))
const Capacity = lazy(() => import('./pages/capacity/capacity.tsx'))
const Operator = lazy(() => import('./pages/operator/operator.tsx'))
const Reference = lazy(() => import('./pages/reference/reference.tsx'))

const PAGES = {
  now: Now,
  calendar: Calendar,
  queue: Queue,
  machine: Machine,
  mine: Mine,
  capacity: Capacity,
  operator: Operator,
  reference: Reference,
}
// The page of this address is fetched while the server is asked how to log in. Whether it came shows when it is shown.
const [, , first = ''] = location.pathname.split('/')
void PAGES[(first || 'now') as keyof typeof PAGES]?.preload().catch(() => {})

const Nowhere: Component = () => (
  <Empty title={words.shell.pageGone}>
    <a class="btn" href="/ui/now">
      {words.shell.toNow}
    </a>
  </Empty>
)

const Pages: Component = () => (
  <Router base="/ui" root={Shell}>
    <Route path="/" component={() => <Navigate href="/now" />} />
    <Route path="/now" component={Now} />
    <Route path="/calendar" component={Calendar} />
    <Route path="/queue" component={Queue} />
    <Route path="/machine/:name" component={Machine} />
    <Route path="/mine" component={Mine} />
    <Route path="/capacity" component={Capacity} />
    <Route path="/operator" component={Operator} />
    <Route path="/reference/:api?" component={Reference} />
    <Route path="*" component={Nowhere} />
  </Router>
)

export const App: Component = () => {
  const [opened, { refetch }] = createResource(async () => {
    await open()
    return true
  })
  return (
    <Switch fallback={<Patience />}>
      <Match when={opened.error as unknown}>
        {error => (
          <Empty title={words.shell.refusedLoad} text={reasonOf(error())}>
            <button type="button" class="btn" onClick={() => void refetch()}>
              {words.shell.tryAgain}
            </button>
          </Empty>
        )}
      </Match>
      <Match when={opened() && login() === null}>
        <LogIn />
      </Match>
      {/* Pages anew for another viewer: they keep nothing of what the one before was shown. */}
      <Match when={opened() && viewer()} keyed>
        <Pages />
      </Match>
    </Switch>
  )
}
