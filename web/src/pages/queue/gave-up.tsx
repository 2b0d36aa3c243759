// One that gave up: why, as bars, and what would help.
import { type Component, createMemo, createResource, For, Match, Show, Switch } from 'solid-js'
import type { AllocationExplained, Reasons } from '../../../../src/client/allocations.ts'
import type { Waiting } from '../../../../src/client/status.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { explained } from '../../data/queue.ts'
import { requestName } from '../../data/requests.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { When } from '../../parts/time.tsx'
import { traitShown } from '../../parts/trait.ts'
import { words } from '../../words.ts'
import { wantedOf, Who } from './card.tsx'
import { Ask, Relaxations } from './relaxations.tsx'
import type { Asked } from './sheets.tsx'

const PAGE = words.queue
const CLASSES_MAX = 4

export const GaveUp: Component<{ row: Waiting; ask: (asked: Asked) => void }> = props => {
  const [answer] = createResource(
    () => props.row.uuid,
    uuid => explained(uuid).catch(() => null),
  )
  const reasons = (): Reasons | null => answer()?.decided ?? answer()?.now ?? null
  return (
    <article class="card fl">
      <header>
        <Glyph state="broken" />
        <div class="grow">
          <h3>
            {requestName(props.row)}{' '}
            <span class="dim">
              <Who row={props.row} /> · {wantedOf(props.row)}
            </span>
          </h3>
          <Show when={reasons()} fallback={<p class="dim">{props.row.reason}</p>}>
            {found => <p class="dim">{verdictOf(props.row, found())}</p>}
          </Show>
        </div>
        <span class="dimmer nowrap">
          {PAGE.gaveUpWord} <When at={reasons()?.at ?? props.row.since} isShort />
        </span>
      </header>
      <Show when={reasons()}>{found => <Causes reasons={found()} />}</Show>
      <div class="foot">
        <Show when={answer()}>{found => <Helps row={props.row} of={found()} />}</Show>
        <span class="grow" />
        <Show when={props.row.may.includes('retry')}>
          <button
            type="button"
            class="btn small quiet"
            disabled={!isLive()}
            title={isLive() ? undefined : words.doing.offline}
            onClick={() => props.ask({ kind: 'retry', row: props.row })}
          >
            {PAGE.tryAgain}
          </button>
        </Show>
        <Show when={props.row.may.includes('delete')}>
          <button
            type="button"
            class="btn small quiet"
            disabled={!isLive()}
            title={isLive() ? undefined : words.doing.offline}
            onClick={() => props.ask({ kind: 'remove', row: props.row })}
          >
            {PAGE.remove}
          </button>
        </Show>
      </div>
    </article>
  )
}

/** Why there was none, then of how many the bars are. */
function verdictOf(row: Waiting, { considered, causes }: Reasons): string {
  const { class: kind, project } = row
  if (considered === 0) return project === null ? PAGE.noClass(kind) : PAGE.noClassFor(kind, project)
  const missing = [...new Set(causes.flatMap(({ traits = [] }) => traits))]
  const verdict = missing.length > 0 ? PAGE.noTraits(missing.map(traitShown)) : PAGE.noneFree(kind)
  return `${verdict} ${PAGE.ofThose(considered, kind, project)}`
}

const FILL: Readonly<Record<string, string>> = {
  allocated: 'k-taken',
  reserved: 'k-held',
  maintenance: 'k-maintenance',
  broken: 'k-broken',
}

const Causes: Component<{ reasons: Reasons }> = props => {
  const most = () => Math.max(1, ...props.reasons.causes.map(({ count }) => count))
  return (
    <ul class="fun">
      <For each={props.reasons.causes}>
        {({ cause, count, traits }) => (
          <li>
            <span class="mb">
              <i class={FILL[cause] ?? 'k-other'} style={{ width: `${(count / most()) * 100}%` }} />
            </span>
            <b>{count}</b> {traits ? PAGE.without(traits.map(traitShown)) : (PAGE.causes[cause] ?? cause)}
          </li>
        )}
      </For>
    </ul>
  )
}

const Helps: Component<{ row: Waiting; of: AllocationExplained }> = props => (
  <Switch>
    <Match when={props.of.now.considered === 0}>
      <Classes of={props.of} wanted={props.row.class} />
    </Match>
    <Match when={true}>
      <Relaxations of={props.of} relaxations={props.of.now.relaxations} label={PAGE.wouldHelp} />
    </Match>
  </Switch>
)

/** Where there is no such class: those that begin alike, and how many of them are free. */
const Classes: Component<{ of: AllocationExplained; wanted: string }> = props => {
  const classes = createMemo(() => {
    const free = new Map<string, number>()
    for (const { class: kind, state } of fleet.machines()) {
      if (kind !== null) free.set(kind, (free.get(kind) ?? 0) + Number(state === 'free'))
    }
    const stem = props.wanted.split(/[-_.]/)[0]!
    const alike = [...free].filter(([kind]) => kind.startsWith(stem))
    return (alike.length > 0 ? alike : [...free]).toSorted((a, b) => b[1] - a[1]).slice(0, CLASSES_MAX)
  })
  return (
    <Show when={classes().length > 0}>
      <div class="fix">
        <span class="dimmer">{PAGE.classes}</span>
        <For each={classes()}>
          {([kind, free]) => (
            <Ask of={props.of} change={{ kind }} text={kind} note={PAGE.free(free)} isGood={free > 0} />
          )}
        </For>
      </div>
    </Show>
  )
}
