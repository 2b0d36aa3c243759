// The page Calendar: what is promised of which machine, in time; as a chart, and as a list.
import { useSearchParams } from '@solidjs/router'
import { type Accessor, type Component, createMemo, createSignal, Match, onCleanup, Show, Switch } from 'solid-js'
import type { Machine, Span } from '../../../../src/client/status.ts'
import { instantTyped, minute, zoneName } from '../../data/clock.ts'
import { draft } from '../../data/draft.ts'
import { fleet } from '../../data/fleet.ts'
import { isFree } from '../../data/free.ts'
import { failing, type FilterName, filtersIn, matcherOf } from '../../data/filter.ts'
import { useKeys } from '../../data/keys.ts'
import { keep, kept } from '../../data/settings.ts'
import { Empty, Patience } from '../../parts/empty.tsx'
import { inCommand } from '../../../../src/shared/shell.ts'
import { CopyLine } from '../../parts/copy.tsx'
import { createSheet } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { rangeShown, rowsIn } from './address.ts'
import { BarPopover, CancelQuestion } from './bar-popover.tsx'
import { type BarShown, Chart } from './chart.tsx'
import { ComposeBar, useComposing } from './composing.tsx'
import { createFolds, createHeld } from './held.ts'
import { ListView, Waits } from './list-view.tsx'
import { createPrinting, PRINTED_PX } from './printing.ts'
import { rowsOf, sameRows } from './rows.ts'
import { Subscribe } from './subscribe.tsx'
import { Legend, Toolbar } from './toolbar.tsx'
import { type CalendarView, createView } from './view.ts'
import './calendar.css'
import './print.css'

const Calendar: Component = () => {
  const [query, setQuery] = useSearchParams()
  const isPrinting = createPrinting()
  const [measured, setMeasured] = createSignal(1_200)
  const view = createView(() => (isPrinting() ? PRINTED_PX : measured()))
  const rows = () => rowsIn(query)
  const filters = createMemo(() => filtersIn(query))
  const matcher = createMemo(() =>
    matcherOf(filters(), { now: minute(), traits: fleet.traits(), instantIn: instantTyped }),
  )
  const machines = createMemo(() => {
    const all = fleet.machines()
    return matcher().tests.length === 0 ? all : all.filter(machine => failing(matcher(), machine).length === 0)
  })
  const prefix = createMemo(() => prefixOf(fleet.machines()))
  const { folds, fold, showQuiet } = createFolds()
  const { composing, only, move } = useComposing(view)
  const held = createHeld({
    same: sameRows,
    rows: () => rowsOf(machines(), fleet.hosts(), { rows: rows(), folds: folds(), only: only() }),
    question: () => [rows(), filters(), folds(), only()],
  })
  const isList = () => (query['view'] ?? kept('calendar-view')) === 'list'
  const setIsList = (wanted: boolean) => {
    keep('calendar-view', wanted ? 'list' : null)
    setQuery({ view: wanted ? 'list' : null }, { replace: true })
  }
  const shown = createSheet<BarShown>()
  const subscribing = createSheet<true>()
  const cancelling = createSheet<Span>()
  useKeys(words.calendar.title, keysOf(view))
  const range = createMemo(() => rangeShown(view.scale(), minute()))
  const zoneWord = createZoneWord(view)
  const label = createMemo(() => words.calendar.label(range(), zoneWord()))
  const mayBook = () => fleet.me().may.includes('book')
  return (
    <div class="p-calendar" classList={{ 'is-list': isList() }}>
      <Toolbar
        view={view}
        range={range()}
        rows={rows()}
        setRows={next => setQuery({ rows: next === 'class,rack' ? null : next }, { replace: true })}
        filters={filters()}
        set={(name: FilterName, value: string) => setQuery({ [name]: value === '' ? null : value }, { replace: true })}
        options={optionsIn(fleet.machines())}
        isList={isList()}
        setIsList={setIsList}
        subscribe={() => subscribing.open(true)}
      />
      <Show when={mayBook() && fleet.machines().length > 0}>
        <ComposeBar />
      </Show>
      <Switch fallback={<Patience />}>
        <Match when={fleet.isLoaded() && fleet.machines().length === 0}>
          <Empty title={words.calendar.noMachines} text={words.calendar.noMachinesText}>
            <CopyLine text="holdfast demo" />
          </Empty>
        </Match>
        <Match when={fleet.isLoaded()}>
          <NothingBookable />
          <Show when={machines().length === 0}>
            <Empty title={words.calendar.noMatch} />
          </Show>
          <Show when={rows() === 'host' && fleet.hosts().length === 0}>
            <Empty title={words.calendar.noHosts} text={words.calendar.noHostsText} />
          </Show>
          <Show when={(!isList() || isPrinting()) && machines().length > 0}>
            <Chart
              label={label()}
              zone={zoneWord()}
              view={view}
              rows={held.rows()}
              prefix={prefix()}
              isWhole={isPrinting()}
              summary={
                draft() === null
                  ? words.calendar.freeNow(machines().filter(isFree).length, machines().length)
                  : words.booking.whereItFits
              }
              fold={fold}
              showQuiet={showQuiet}
              open={shown.open}
              hold={held.hold}
              composing={mayBook() ? composing : null}
              timeRef={element => watchWidth(element, setMeasured)}
            />
            <Waits count={held.waiting()} refresh={held.refresh} />
          </Show>
          <Show when={(isList() || isPrinting()) && machines().length > 0}>
            <ListView
              machines={machines()}
              scale={view.scale()}
              label={label()}
              isWhole={isPrinting()}
              open={shown.open}
              question={filters()}
            />
          </Show>
          <Show when={!isList()}>
            <Legend mayBook={mayBook()} />
          </Show>
        </Match>
      </Switch>
      <Show when={shown.value()} keyed>
        {bar => <BarPopover shown={bar} close={shown.close} move={mayBook() ? move : null} cancel={cancelling.open} />}
      </Show>
      <Show when={cancelling.value()} keyed>
        {span => <CancelQuestion span={span} close={cancelling.close} />}
      </Show>
      <Show when={subscribing.value()}>
        <Subscribe close={subscribing.close} />
      </Show>
    </div>
  )
}

/** For those who can change it. Others don't see all that can be booked: they ask, and are answered. */
const NothingBookable: Component = () => (
  <Show when={!fleet.machines().some(({ bookable }) => bookable)}>
    <Show when={fleet.machines().find(({ may }) => may.includes('bookable'))}>
      {machine => (
        <div class="note">
          <p>{words.calendar.nothingBookable}</p>
          <p>{words.calendar.makeBookable}</p>
          <CopyLine text={`holdfast node leasable set ${inCommand(machine().name, machine().uuid)}`} />
        </div>
      )}
    </Show>
  </Show>
)

/** What the zone is called on the first day in view. Names are dear to find out, and are the same all day. */
function createZoneWord(view: CalendarView): Accessor<string> {
  const day = createMemo(() => Math.floor(view.scale().from / DAY_MS))
  return createMemo(() => zoneName(day() * DAY_MS))
}
const DAY_MS = 86_400_000

const keysOf = (view: CalendarView) => [
  { keys: '+', words: words.calendar.keys.nearer, act: () => view.zoomBy(-1, null) },
  { keys: '=', words: null, act: () => view.zoomBy(-1, null) },
  { keys: '-', words: words.calendar.keys.wider, act: () => view.zoomBy(1, null) },
  { keys: 't', words: words.calendar.keys.today, act: () => view.today() },
  { keys: 'ArrowLeft', words: words.calendar.keys.earlier, act: () => view.page(-1) },
  { keys: 'ArrowRight', words: words.calendar.keys.later, act: () => view.page(1) },
]

function watchWidth(element: HTMLElement, set: (width: number) => void): void {
  const look = () => element.clientWidth > 0 && set(element.clientWidth)
  look()
  const watch = new ResizeObserver(look)
  watch.observe(element)
  onCleanup(() => watch.disconnect())
}

const namesOf = (names: readonly (string | null)[]) =>
  [...new Set(names.filter(name => name !== null))].sort(new Intl.Collator('en', { numeric: true }).compare)

const optionsIn = (machines: readonly Machine[]) => ({
  class: namesOf(machines.map(machine => machine.class)),
  rack: namesOf(machines.map(({ rack }) => rack)),
  project: namesOf(machines.flatMap(({ project, owner, lessee }) => [project, owner, lessee])),
})

/** What all names begin with, up to a mark between words. */
function prefixOf(machines: readonly Machine[]): string {
  const names = machines.map(({ name, uuid }) => name ?? uuid)
  const [first = '', last = ''] = [names[0], names.at(-1)]
  // They come in order, so the first and the last differ most.
  let length = 0
  while (length < first.length && first[length] === last[length]) length++
  return names.length < 2 ? '' : (/^.*[-_ ./:]/.exec(first.slice(0, length))?.[0] ?? '')
}

export default Calendar
