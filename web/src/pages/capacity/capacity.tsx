// Capacity: what the providers have and use, and what fits where.
import { useLocation, useNavigate } from '@solidjs/router'
import {
  batch,
  type Component,
  createEffect,
  createMemo,
  createResource,
  createSignal,
  Match,
  on,
  Show,
  Switch,
} from 'solid-js'
import { type Candidates, candidatesOf, type CandidatesExplained, explainedQuestion } from '../../data/capacity.ts'
import { reasonOf } from '../../data/doing.ts'
import { useKeys } from '../../data/keys.ts'
import { Empty, Patience } from '../../parts/empty.tsx'
import { CopyLine } from '../../parts/copy.tsx'
import { words } from '../../words.ts'
import { Answer } from './answer.tsx'
import { Ask } from './ask.tsx'
import { lostIn, queryOf, questionIn, textOf } from './question.ts'
import { wouldDo } from './sentences.ts'
import { Supply } from './supply.tsx'
import { createCapacity } from './known.ts'
import './capacity.css'

const PAGE = words.capacity
/** As many candidates as tell where it fits. */
const CANDIDATES_MAX = 100
const OWN = new Set(['tab', 'q'])

interface Found {
  text: string
  explained: CandidatesExplained
  candidates: Candidates | null
}

const limited = (text: string) => ({ limit: String(CANDIDATES_MAX), ...queryOf(text) })

async function found(text: string): Promise<Found> {
  const explained = await explainedQuestion(queryOf(text))
  const candidates = explained.roots > 0 ? await candidatesOf(limited(text)) : null
  return { text, explained, candidates }
}

const Capacity: Component = () => {
  const location = useLocation()
  const navigate = useNavigate()
  const parts = createMemo(() => partsIn(location.search))
  const text = () => parts().query
  const go = (query: string, own: Readonly<Record<string, string>> = parts().own) => {
    const rest = Object.entries(own)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    const search = [query, ...rest].filter(part => part !== '').join('&')
    navigate(`/capacity${search === '' ? '' : `?${search}`}`, { replace: true, scroll: false })
  }
  const capacity = createCapacity()
  // Asked again when what there is has changed.
  const [answer] = createResource(
    () => (text() === '' ? null : { text: text(), version: capacity.version() }),
    ({ text: asked }) => found(asked),
  )
  const shown = () => (answer.error === undefined ? (answer.latest ?? null) : null)
  const here = () => (text() === '' || shown()?.text !== text() ? null : shown())
  const [pointed, setPointed] = createSignal<string | null>(null)
  createEffect(on(text, () => setPointed(null)))
  const helping = createMemo(() => {
    const all = here()?.explained.relaxations ?? []
    return all.find(({ query }) => query === pointed()) ?? all[0] ?? null
  })
  const [helped] = createResource(
    () => helping()?.query,
    query => candidatesOf(limited(query)).catch(() => null),
  )
  const marks = createMemo((): ReadonlyMap<string, string> => {
    const candidates = here()?.candidates ?? (helping() ? helped.latest : null)
    const change = helping()
    const word = change ? wouldDo(change.sentence) : PAGE.doesFit
    return new Map(candidates ? rootsIn(candidates).map(uuid => [uuid, word]) : [])
  })
  const bad = createMemo(() => {
    const change = helping()
    return change ? lostIn(questionIn(text()), questionIn(change.query)) : new Set<string>()
  })
  useKeys(
    PAGE.keys,
    [1, 2, 3].map(number => ({
      keys: String(number),
      words: PAGE.applyKey(number),
      act: () => {
        const change = here()?.explained.relaxations[number - 1]
        if (change) go(change.query)
      },
    })),
  )
  const refusal = () => (answer.error === undefined || text() === '' ? null : reasonOf(answer.error))
  return (
    <div class="page p-capacity">
      <Switch fallback={<Patience />}>
        <Match when={capacity.isForbidden()}>
          <Empty title={PAGE.forOperators} text={PAGE.forOperatorsWhy}>
            <a class="btn" href="/ui/now">
              {words.shell.toNow}
            </a>
          </Empty>
        </Match>
        <Match when={capacity.error() !== null && !capacity.isLoaded()}>
          <Empty title={words.shell.refusedLoad} text={capacity.error()!}>
            <button type="button" class="btn" onClick={() => capacity.reload()}>
              {words.shell.tryAgain}
            </button>
          </Empty>
        </Match>
        <Match when={capacity.isLoaded() && capacity.trees().length === 0}>
          <Empty title={PAGE.none} text={PAGE.noneWhy}>
            {PAGE.noneLines.map(line => (
              <CopyLine text={line} />
            ))}
          </Empty>
        </Match>
        <Match when={capacity.isLoaded()}>
          <section class="ask card" aria-labelledby="capacity-ask">
            <header>
              <h1 id="capacity-ask">{PAGE.ask}</h1>
              <span class="dimmer">{PAGE.nothingClaimed}</span>
              <span class="grow" />
              <Show when={text() !== ''}>
                <button type="button" class="btn small quiet" onClick={() => go('')}>
                  {PAGE.clear}
                </button>
              </Show>
            </header>
            <Ask text={text()} known={capacity.known()} bad={bad()} error={refusal()} ask={query => go(query)} />
            <Show when={text() === ''}>
              <p class="dim">{PAGE.startHint}</p>
            </Show>
            <Show when={here()}>
              {one => (
                <Answer
                  explained={one().explained}
                  candidates={one().candidates}
                  limit={CANDIDATES_MAX}
                  nameOf={capacity.nameOf}
                  apply={query => batch(() => go(query))}
                  point={setPointed}
                />
              )}
            </Show>
          </section>
          <Supply
            capacity={capacity}
            marks={marks()}
            tab={parts().own['tab'] === 'machines' ? 'machines' : 'hosts'}
            filter={parts().own['q'] ?? ''}
            set={change => go(text(), { ...parts().own, ...change })}
          />
        </Match>
      </Switch>
    </div>
  )
}

/** The roots of the trees that candidates are in. */
function rootsIn({ allocation_requests, provider_summaries }: Candidates): string[] {
  const used = allocation_requests.flatMap(({ allocations }) => Object.keys(allocations))
  return [...new Set(used.map(uuid => provider_summaries[uuid]?.root_provider_uuid ?? uuid))]
}

/** Placement's part of the address, and that of the page. */
function partsIn(search: string): { query: string; own: Record<string, string> } {
  const own: Record<string, string> = {}
  const query: string[] = []
  for (const part of search.replace(/^\?/, '').split('&')) {
    const name = part.split('=', 1)[0]!
    if (OWN.has(name)) own[name] = new URLSearchParams(part).get(name) ?? ''
    else if (part !== '') query.push(part)
  }
  return { query: textIn(query.join('&')), own }
}

/** As people read it. */
const textIn = (query: string) => textOf(questionIn(query))

export default Capacity
