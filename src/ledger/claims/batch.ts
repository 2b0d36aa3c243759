// Decides a batch of claim requests: reads the book under lock, decides each request on it, writes the changes back.
import { subject } from '../../events/subject.ts'
import type { Problem } from '../../problems/problem.ts'
import type { UseChange } from '../../store/change.ts'
import { GuardFailed } from '../../store/failure.ts'
import type { Topic } from '../../store/log.ts'
import type { ConsumerId } from '../../store/schema/ids.ts'
import type { Command } from '../../store/statement.ts'
import { inTurns, mark, note, runAll, type Subject, together, wake, type Write } from '../../store/transaction.ts'
import type { Book, BookConsumer, BookInventory, BookProvider } from './book.ts'
import { type ClaimRequest, consumersOf, namesIn, subjectOf, subjectsOf } from './claim.ts'
import { decide } from './decide.ts'
import { openBook } from './open-book.ts'
import * as sql from './statements.ts'

// Earlier than any expiry.
const NEVER = -1
/** The parts of Holdfast that wait until others give back what they have closed, and how they are woken. */
const WAITS: ReadonlyMap<string | null, Topic> = new Map([['leases', 'leases']])

/** Decides and writes a batch of requests; each gets its own verdict, null for granted. */
export function* claimBatch(requests: readonly ClaimRequest[], now: number): Write<(Problem | null)[]> {
  const decided = yield* decideBatch(requests, now)
  yield* mark(...decided.flatMap(({ subjects }) => subjects))
  return decided.map(({ verdict }) => verdict)
}

export interface Decided {
  /** null for granted. */
  verdict: Problem | null
  /** What came of the request. */
  subjects: readonly Subject[]
}

/** Like `claimBatch`, for a caller that records what came of each request by itself. */
export function* decideBatch(requests: readonly ClaimRequest[], now: number): Write<Decided[]> {
  const book = yield* openBook(requests, now)
  const decided: Decided[] = []
  for (const request of requests) {
    const ended: BookConsumer[] = []
    const verdict = decideWithLapsed(book, request, ended)
    const subjects = verdict !== null ? [] : yield* subjectsInTurns(request)
    decided.push({
      verdict,
      subjects: ended.length > 0 ? [...subjects, ...ended.map(c => expired(book, c))] : subjects,
    })
  }
  yield* closeBook(book, now)
  return decided
}

/** Like `subjectsOf`, with turns for others. */
function* subjectsInTurns(request: ClaimRequest): Write<readonly Subject[]> {
  if (request.kind === 'release' || request.consumers.length === 1) return subjectsOf(request)
  const { consumers } = request
  const subjects: Subject[] = []
  yield* inTurns(consumers, claims => void subjects.push(subjectOf(claims, consumers.length)))
  return subjects
}

/** Only holds have an end. */
function expired(book: Book, { uuid, lapsedOf, claimsBefore }: BookConsumer): Subject {
  const [inventory] = claimsBefore.keys()
  const node = { uuid: inventory && book.providerWithId(inventory.providerId)?.uuid }
  return subject('hold', uuid, 'expired', { whose: { project: lapsedOf }, data: { node } })
}

/**
 * Decides a request. If it lacks room, releases the expired consumers of its providers and decides again. `ended` gets
 * the expired consumers that were released.
 */
function decideWithLapsed(book: Book, request: ClaimRequest, ended: BookConsumer[]): Problem | null {
  const verdict = decide(book, request)
  if (verdict === null && request.kind === 'release') {
    const consumer = book.consumer(request.consumer)
    if (consumer.lapsedOf !== null) ended.push(consumer)
  }
  if (verdict?.kind !== 'claim_exceeds_capacity') return verdict
  const wanted = new Set(namesIn([request]).providers.map(uuid => book.providers.get(uuid)?.id))
  const lapsed = [...book.consumers.values()].filter(
    ({ lapsedOf, claims }) => lapsedOf !== null && claims.keys().some(({ providerId }) => wanted.has(providerId)),
  )
  if (lapsed.length === 0) return verdict
  for (const { uuid, now } of lapsed) decide(book, { kind: 'release', consumer: uuid, owner: now!.managedBy })
  ended.push(...lapsed)
  return decide(book, request)
}

/**
 * Locks all rows that the requests and the further providers involve, in the order that every transaction keeps. A
 * caller that claims afterwards passes `now`: then expired consumers, which the claim may release, are locked too.
 */
export function* lockInvolved(
  requests: readonly ClaimRequest[],
  furtherProviders: readonly string[],
  now = NEVER,
): Write<void> {
  const consumers = [...new Set(requests.flatMap(consumersOf))]
  const providers = [...namesIn(requests).providers, ...furtherProviders]
  const named = { consumers, providers, now }
  yield* together(sql.lockConsumers(named), sql.lockProviders(named))
}

function* closeBook(book: Book, now: number): Write<void> {
  const consumers = [...book.consumers.values()].filter(consumer => consumer.touched)
  // Sorted by uuid: two transactions that add the same consumers can't deadlock.
  consumers.sort((a, b) => (a.uuid < b.uuid ? -1 : 1))
  const rows = yield* consumerChanges(consumers, now)
  const providers = [...book.providers.values()]
  const uses: sql.UseRow[] = []
  const bumped: BookProvider[] = []
  const revised: BookProvider[] = []
  yield* inTurns(providers, provider => {
    const changed = usesChanged(provider)
    if (provider.bumps > 0) bumped.push(provider)
    else if (changed.length > 0) revised.push(provider)
    uses.push(...changed)
  })

  const writes: Command[] = []
  const add = <Row>(write: (args: { rows: readonly Row[] }) => Command, rows: readonly Row[]) => {
    if (rows.length > 0) writes.push(write({ rows }))
  }
  add(sql.addConsumers, rows.added)
  add(sql.changeConsumers, rows.changed)
  add(sql.removeClaims, rows.claimsGone)
  add(sql.putClaims, rows.claims)
  add(
    sql.bumpProviders,
    bumped.map(({ id, bumps }) => ({ id, bumps, now })),
  )
  if (revised.length > 0) writes.push(sql.reviseProviders({ ids: revised.map(provider => provider.id) }))
  if (rows.gone.length > 0) writes.push(sql.removeConsumers({ ids: rows.gone }))
  add(sql.changeUse, uses)
  const counts = yield* runAll(writes)
  if (uses.length > 0 && counts.at(-1) !== uses.length)
    throw new GuardFailed('a claim did not fit where it was decided')
  yield* note([...bumped, ...revised].map(useChange))
  const topics = providers.flatMap(provider => (isGivenBack(provider) ? (WAITS.get(provider.managedBy) ?? []) : []))
  yield* wake(...new Set(topics))
}

/** The rows that change because of these consumers. */
function* consumerChanges(consumers: readonly BookConsumer[], now: number) {
  const added: sql.ConsumerRow[] = []
  const changed: sql.ConsumerRow[] = []
  const gone: ConsumerId[] = []
  const claims: sql.ClaimRow[] = []
  const claimsGone: sql.ClaimKey[] = []
  yield* inTurns(consumers, consumer => {
    if (consumer.now) (consumer.id === null ? added : changed).push(consumerRow(consumer, now))
    else if (consumer.id !== null) gone.push(consumer.id)
    claims.push(...claimRows(consumer, now))
    claimsGone.push(...goneClaims(consumer))
  })
  return { added, changed, gone, claims, claimsGone }
}

/** Whether something of a closed inventory was released. */
function isGivenBack({ managedBy, inventories }: BookProvider): boolean {
  return (
    managedBy !== null && inventories.values().some(({ blocked, used, usedBefore }) => blocked && used < usedBefore)
  )
}

function useChange({ id, revision, generation, inventories }: BookProvider): UseChange {
  const uses = Array.from(inventories.values(), ({ resourceClass, used }) => [resourceClass, used] as const)
  return { provider: id, revision: revision + 1, generation, uses }
}

function consumerRow({ uuid, now: facts }: BookConsumer, now: number): sql.ConsumerRow {
  const { projectId, userId, type, generation, managedBy } = facts!
  return { uuid, project_id: projectId, user_id: userId, type, generation, managed_by: managedBy, now }
}

function claimRows({ uuid, claims }: BookConsumer, now: number): sql.ClaimRow[] {
  return Array.from(claims, ([{ providerId, classId }, used]) => ({
    consumer: uuid,
    provider_id: providerId,
    class_id: classId,
    used,
    now,
  }))
}

function goneClaims({ id, claims, claimsBefore }: BookConsumer): sql.ClaimKey[] {
  const gone: BookInventory[] = [...claimsBefore.keys()].filter(inventory => !claims.has(inventory))
  return gone.map(({ providerId, classId }) => ({ consumer_id: id!, provider_id: providerId, class_id: classId }))
}

function usesChanged({ inventories }: BookProvider): sql.UseRow[] {
  return [...inventories.values()]
    .filter(inventory => inventory.used !== inventory.usedBefore)
    .map(i => ({ provider_id: i.providerId, class_id: i.classId, change: i.used - i.usedBefore }))
}
