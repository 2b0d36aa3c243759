// Plain requests are decided on memory and written in one call, which checks all that was decided: see plan.ts. All other
// requests, and all that such a call refuses, are decided on the rows.
import { limits } from '../../shared/limits.ts'
import type { Change } from '../../store/change.ts'
import { type LogRow, Report, rowsFor } from '../../store/log.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { log, note, one, type Subject, type Write } from '../../store/transaction.ts'
import type { Mirror } from '../mirror.ts'
import { claimNew, numbersIn, releaseAll, texts, toldBy } from './calls.ts'
import { type ClaimRequest, subjectsOf } from './claim.ts'
import { Plan } from './plan.ts'

interface Asked<Entry> {
  readonly request: ClaimRequest
  readonly entry: Entry | null
}

/** Requests that are granted together if the work succeeds. */
export interface PlainCall<Waiting> {
  readonly requests: readonly Waiting[]
  readonly work: () => Write<void>
  /** To be called when it lost. */
  readonly failed: () => void
}

/** A batch: the calls for what is plain, ready to be sent, and all else. */
export interface Split<Waiting> {
  readonly batch: readonly Waiting[]
  readonly calls: readonly PlainCall<Waiting>[]
  readonly others: readonly Waiting[]
}

interface Options<Entry> {
  mirror: Mirror
  /** Names this process in the log. */
  origin: string
  record: ((changes: readonly { entry: Entry; subjects: readonly Subject[] }[]) => Write<void>) | null
  now: () => number
}

export class AtOnce<Entry> {
  readonly #options: Options<Entry>

  constructor(options: Options<Entry>) {
    this.#options = options
  }

  /** Takes the plain requests out of a batch. */
  split<Waiting extends Asked<Entry>>(batch: readonly Waiting[]): Split<Waiting> {
    const { mirror, now } = this.#options
    const plan = new Plan(mirror.table)
    const claims: Waiting[] = []
    const releases = new Map<string, Waiting>()
    const others: Waiting[] = []
    for (const waiting of batch) {
      const { request } = waiting
      const isRelease = request.kind === 'release' && request.owner === null && !releases.has(request.consumer)
      if (isRelease) releases.set(request.consumer, waiting)
      else if (plan.add(request)) claims.push(waiting)
      else others.push(waiting)
    }
    const calls: PlainCall<Waiting>[] = []
    const add = (requests: readonly Waiting[], make: () => PlainCall<Waiting>['work'], failed = () => {}) => {
      try {
        if (requests.length > 0) calls.push({ requests, work: make(), failed })
      } catch {
        // Decided alone, each finds out whether it is to blame.
        others.push(...requests)
      }
    }
    const refresh = () => void mirror.refresh(plan.providers)
    add(claims, () => this.#claim(plan, this.#entriesOf(claims), now()), refresh)
    const released = [...releases.values()]
    add(released, () => this.#release([...releases.keys()], this.#entriesOf(released)))
    return { batch, calls, others }
  }

  #entriesOf(asked: readonly Asked<Entry>[]): readonly LogRow[] {
    const report = new Report()
    const changes = asked.flatMap(({ request, entry }) =>
      entry === null ? [] : [{ entry, subjects: subjectsOf(request) }],
    )
    for (const told of this.#options.record?.(changes) ?? []) {
      for (const one of told) if (one.kind === 'log') report.take(one)
    }
    return report.entries
  }

  #claim(plan: Plan, entries: readonly LogRow[], now: number): () => Write<void> {
    const told = toldBy(rowsFor(entries), this.#options.origin, limits.claimLockMs)
    const call = claimNew({ ...told, ...plan.claims(), now })
    const { providers } = plan
    const changes = plan.changes(providers.map(() => 0))
    return function* () {
      const answer = yield* one(call)
      // Without an answer it is known to be done, and no more: memory has to read.
      const revisions = answer && numbersIn(answer.revisions)
      if (revisions) yield* note(changes.map((change, i) => ({ ...change, revision: revisions[i]! })))
      else yield* note(providers.map(provider => ({ provider })))
      yield* log(entries)
    }
  }

  #release(consumers: readonly string[], entries: readonly LogRow[]): () => Write<void> {
    const told = toldBy(rowsFor(entries), this.#options.origin, limits.claimLockMs)
    const call = releaseAll({ ...told, consumers: texts(consumers) })
    return function* () {
      const answer = yield* one(call)
      if (answer) yield* note(releasedBy(answer))
      yield* log(entries)
    }
  }
}

type Released = NonNullable<ReturnType<typeof releaseAll>['row']>

function releasedBy({ providers, revisions, of, class_names, amounts }: Released): Change[] {
  const [holders, names, released] = [numbersIn(of), class_names.split(' '), numbersIn(amounts)]
  const places = Map.groupBy(holders.keys(), place => holders[place]!)
  const revised = numbersIn(revisions)
  return numbersIn(providers).map((provider, i) => ({
    provider: provider as ProviderId,
    revision: revised[i]!,
    bumps: 0,
    grown: places.get(provider)!.map(place => [names[place]!, -released[place]!] as const),
  }))
}
