// What is around every page: the bar, the connection, keys, toasts, and what is said to screen readers.
import { useLocation, useNavigate } from '@solidjs/router'
import {
  createEffect,
  createSignal,
  ErrorBoundary,
  lazy,
  on,
  onCleanup,
  type ParentComponent,
  Show,
  Suspense,
} from 'solid-js'
import { switchZone } from '../data/clock.ts'
import { reasonOf, undoLast } from '../data/doing.ts'
import { fleet } from '../data/fleet.ts'
import { type Key, useKeys } from '../data/keys.ts'
import { liveness, useLiveFleet } from '../data/live.ts'
import { bookingAsked, getAsked } from '../parts/booking/open.ts'
import { Empty, Patience } from '../parts/empty.tsx'
import { Shapes } from '../parts/glyph.tsx'
import { Toasts } from '../parts/toasts.tsx'
import { Turn } from '../parts/turn.tsx'
import { asked } from '../parts/verbs/asked.ts'
import { words } from '../words.ts'
import { Bar, Tabs } from './bar.tsx'
import { Find } from '../pages/find/find.tsx'
import { useKeptFocus } from './kept-focus.ts'
import { KeyList } from './key-list.tsx'
import { Offline } from './offline.tsx'

/** At most so often is a screen reader told that machines changed. */
const SAID_MS = 10_000

const BookingSheet = lazy(() => import('../parts/booking/sheet.tsx'))
const GetSheet = lazy(() => import('../parts/booking/get-sheet.tsx'))
const VerbSheets = lazy(() => import('../parts/verbs/verb-sheets.tsx'))

export const Shell: ParentComponent = props => {
  useLiveFleet()
  useKeptFocus()
  const navigate = useNavigate()
  const [over, setOver] = createSignal<'find' | 'keys' | null>(null)
  useKeys(words.keys.everywhere, everywhere({ go: navigate, show: setOver }))
  const location = useLocation()
  let main!: HTMLElement
  // The router takes it for another address, and leaves the focus where it is.
  const skip = (event: MouseEvent) => {
    event.preventDefault()
    main.focus()
  }
  // What is read out and where the focus is follow the page.
  createEffect(
    on(
      () => location.pathname,
      () => main.focus(),
      { defer: true },
    ),
  )
  return (
    <>
      <Shapes />
      <a class="vh skip" href="#main" onClick={skip}>
        {words.shell.skip}
      </a>
      <Bar find={() => setOver('find')} keys={() => setOver('keys')} />
      <Offline />
      <Turn />
      <main ref={main} id="main" tabindex="-1" classList={{ stale: liveness().state === 'lost' }}>
        <ErrorBoundary fallback={(error, reset) => <Broken reason={reasonOf(error)} again={reset} />}>
          <Suspense fallback={<Patience />}>{props.children}</Suspense>
        </ErrorBoundary>
      </main>
      <Tabs />
      <Toasts />
      <Said />
      <Show when={asked()}>
        <Suspense>
          <VerbSheets />
        </Suspense>
      </Show>
      <Show when={bookingAsked()}>
        <Suspense>
          <BookingSheet />
        </Suspense>
      </Show>
      <Show when={getAsked()}>
        <Suspense>
          <GetSheet />
        </Suspense>
      </Show>
      <Show when={over() === 'find'}>
        <Find close={() => setOver(null)} />
      </Show>
      <Show when={over() === 'keys'}>
        <KeyList close={() => setOver(null)} />
      </Show>
    </>
  )
}

const Broken = (props: { reason: string; again: () => void }) => (
  <Empty title={words.shell.refusedLoad} text={props.reason}>
    <button type="button" class="btn" onClick={() => props.again()}>
      {words.shell.tryAgain}
    </button>
  </Empty>
)

interface Everywhere {
  go: (to: string) => void
  show: (what: 'find' | 'keys') => void
}

function everywhere({ go, show }: Everywhere): Key[] {
  const to = (keys: string, text: string, path: string): Key => ({ keys, words: text, act: () => go(path) })
  return [
    { keys: '/', words: words.keys.find, act: () => show('find') },
    { keys: '?', words: words.keys.help, act: () => show('keys') },
    to('g n', words.keys.goNow, '/now'),
    to('g c', words.keys.goCalendar, '/calendar'),
    to('g q', words.keys.goQueue, '/queue'),
    to('g m', words.keys.goMine, '/mine'),
    to('g k', words.keys.goCapacity, '/capacity'),
    to('g o', words.keys.goOperator, '/operator'),
    { keys: 'u', words: words.keys.zone, act: switchZone },
    { keys: 'z', words: words.keys.undo, act: undoLast },
  ]
}

/** Tells screen readers now and then how many machines changed. */
const Said = () => {
  const [text, setText] = createSignal('')
  let changed = new Set<string>()
  createEffect(() => {
    for (const uuid of fleet.flashes()) changed.add(uuid)
  })
  const timer = setInterval(() => {
    setText(changed.size === 0 ? '' : words.shell.changed(changed.size))
    changed = new Set()
  }, SAID_MS)
  onCleanup(() => clearInterval(timer))
  return (
    <p class="vh" role="status">
      {text()}
    </p>
  )
}
