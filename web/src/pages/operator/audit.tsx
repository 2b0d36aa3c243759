// Who changed what, newest first, with a search that is in the address.
import { useSearchParams } from '@solidjs/router'
import { type Component, createEffect, createResource, createSignal, For, on, onCleanup, Show } from 'solid-js'
import type { AuditEntry } from '../../../../src/client/operations.ts'
import type { Query } from '../../../../src/client/wire.ts'
import { serverNow, utc, zone } from '../../data/clock.ts'
import { reasonOf } from '../../data/doing.ts'
import { fleet } from '../../data/fleet.ts'
import { learnNames, nameOf } from '../../data/names.ts'
import { server } from '../../data/session.ts'
import { Icon } from '../../parts/icon.tsx'
import { Refusal } from '../../parts/sheet.tsx'
import { words } from '../../words.ts'
import { isPeriod, type Period, PERIODS, questionsIn, sinceOf } from './audit-search.ts'
import { foldedOf, sentenceOf } from './audit-words.ts'

const PAGE = 12
const SHOWN_MAX = 500
const PAUSE_MS = 250
/** How soon after a change the list is read again. */
const FOLLOW_MS = 1_000

interface Sought {
  text: string
  period: Period
  limit: number
}

async function entriesOf({ text, period, limit }: Sought): Promise<AuditEntry[]> {
  const since = sinceOf(period, serverNow())
  for (const question of questionsIn(text)) {
    const found = await entriesFor({ ...question, since }, limit)
    if (found.length > 0) return found
  }
  return []
}

/** A name that nobody has finds nothing. */
async function entriesFor(where: Query, limit: number): Promise<AuditEntry[]> {
  const { user, project } = where
  const resolved = async (kind: 'user' | 'project', word: unknown) =>
    typeof word === 'string'
      ? server()
          .names.resolve(kind, word, { gone: true })
          .catch(() => null)
      : undefined
  const ids = { user: await resolved('user', user), project: await resolved('project', project) }
  if (ids.user === null || ids.project === null) return []
  const entries = await server().audit({ ...where, user: ids.user, project: ids.project }, limit)
  const people = entries.flatMap(({ objects }) => objects.filter(({ kind }) => kind === 'user' || kind === 'project'))
  await learnNames([...entries.flatMap(entry => [entry.user, entry.project]), ...people.map(({ id }) => id)])
  return entries
}

export const Audit: Component = () => {
  const [address, setAddress] = useSearchParams<{ audit?: string; since?: string }>()
  const period = (): Period => (isPeriod(address.since) ? address.since : 'day')
  const [limit, setLimit] = createSignal(PAGE)
  const sought = (): Sought => ({ text: address.audit ?? '', period: period(), limit: limit() })
  const [entries, { refetch }] = createResource(sought, entriesOf)
  let due: ReturnType<typeof setTimeout> | undefined
  createEffect(
    on(
      fleet.version,
      () => {
        clearTimeout(due)
        due = setTimeout(() => void refetch(), FOLLOW_MS)
      },
      { defer: true },
    ),
  )
  let typed: ReturnType<typeof setTimeout> | undefined
  onCleanup(() => {
    clearTimeout(due)
    clearTimeout(typed)
  })
  const search = (text: string) => {
    clearTimeout(typed)
    typed = setTimeout(() => {
      setLimit(PAGE)
      setAddress({ audit: text.trim() || undefined }, { replace: true })
    }, PAUSE_MS)
  }
  return (
    <section class="card au" aria-labelledby="audit">
      <header class="ch">
        <h2 id="audit">{words.operator.audit}</h2>
      </header>
      <div class="tools at">
        <label class="find grow">
          <Icon name="search" />
          <span class="vh">{words.operator.auditSearch}</span>
          <input
            type="search"
            placeholder={words.operator.auditSearch}
            value={address.audit ?? ''}
            onInput={event => search(event.currentTarget.value)}
          />
        </label>
        <select
          class="field"
          aria-label={words.operator.auditPeriod}
          value={period()}
          onChange={event => setAddress({ since: event.currentTarget.value }, { replace: true })}
        >
          <For each={Object.keys(PERIODS) as Period[]}>
            {name => <option value={name}>{words.operator.periods[name]}</option>}
          </For>
        </select>
      </div>
      <Refusal words={entries.error ? reasonOf(entries.error) : null} />
      <Show when={!entries.error}>
        <Show
          when={(entries.latest ?? []).length > 0}
          fallback={<p class="none dim">{entries.loading ? '' : words.operator.noEntries}</p>}
        >
          <ol>
            <For each={foldedOf(entries.latest ?? [])}>{folded => <Entry {...folded} />}</For>
          </ol>
          <Show when={(entries.latest?.length ?? 0) >= limit() && limit() < SHOWN_MAX}>
            <p class="pp">
              <button type="button" class="btn small quiet" onClick={() => setLimit(Math.min(SHOWN_MAX, limit() * 3))}>
                {words.operator.older}
              </button>
            </p>
          </Show>
        </Show>
      </Show>
    </section>
  )
}

const clockTime = (at: string) =>
  new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: zone() }).format(Date.parse(at))

const Entry: Component<{ entry: AuditEntry; times: number }> = props => {
  const sentence = () => sentenceOf(props.entry, nameOf)
  return (
    <li title={`${props.entry.action} ${props.entry.request_id ?? ''}`}>
      <time datetime={props.entry.at} title={utc(props.entry.at)}>
        {clockTime(props.entry.at)}
      </time>
      <span class="grow cut">
        <b>{nameOf(props.entry.user) || words.shell.anyone}</b>{' '}
        <span class="dimmer">{nameOf(props.entry.project)}</span>{' '}
        <Show when={sentence().hasFailed}>
          <span class="st-broken">{words.operator.failedAt} </span>
        </Show>
        {sentence().verb}{' '}
        <For each={sentence().objects}>
          {(object, at) => (
            <>
              {at() > 0 ? ', ' : ''}
              <Show when={object.kind === 'node'} fallback={<b class="o">{object.name}</b>}>
                <a href={`/ui/machine/${encodeURIComponent(object.name)}`}>
                  <b class="o">{object.name}</b>
                </a>
              </Show>
            </>
          )}
        </For>
        {words.operator.times(props.times)}
      </span>
      <span class="mono dimmer">{props.entry.id}</span>
    </li>
  )
}
