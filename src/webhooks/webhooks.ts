// Webhooks: who is told of events, and where. Secrets are read only to sign, never to be shown.
import { type Selectable, sql } from 'kysely'
import type { Clock } from '../clock/clock.ts'
import { logEnds } from '../audit/order.ts'
import { endOf } from '../events/event.ts'
import { problem } from '../problems/problem.ts'
import { jsonText } from '../shared/json.ts'
import { limits } from '../shared/limits.ts'
import type { Schema } from '../store/schema.ts'
import type { WebhookId } from '../store/schema/ids.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, runAll, type Subject, type Write } from '../store/transaction.ts'
import type { Maker } from './filter.ts'
import { dropPending, makeDue, unsetDue } from './outbox.ts'
import { newSecret } from './signature.ts'
import { isMail } from './targets.ts'

type Row = Selectable<Schema['webhooks']>
/** All of a webhook but its secrets. */
export type Webhook = Omit<Row, 'secret' | 'old_secret'>

export const OPEN = [
  'id',
  'uuid',
  'name',
  'url',
  'project_id',
  'maker_user',
  'maker_project',
  'maker_roles',
  'maker_system',
  'types',
  'object',
  'only_project',
  'only_user',
  'old_secret_until',
  'state',
  'reason',
  'state_at',
  'cursor_sequence',
  'cursor_part',
  'missed_at',
  'created_at',
  'updated_at',
  'failing_since',
] as const satisfies (keyof Webhook)[]

const byUuid = query((db, a: { uuid: string; project: string | null; all: 0 | 1 }) =>
  db
    .selectFrom('webhooks')
    .select(OPEN)
    .where('uuid', '=', a.uuid)
    .where(e => e.or([e('project_id', '=', a.project), e(e.val(a.all), '=', 1)])),
)
const listed = query((db, a: { project: string | null; all: 0 | 1 }) =>
  db
    .selectFrom('webhooks')
    .select(OPEN)
    .where(e => e.or([e('project_id', '=', a.project), e(e.val(a.all), '=', 1)]))
    .orderBy('id')
    .limit(limits.webhooksMax),
)
const counted = query((db, a: { project: string | null }) =>
  db
    .selectFrom('webhooks')
    .select(e => [
      e.fn.countAll<number>().as('all'),
      e.fn.countAll<number>().filterWhere('project_id', '=', a.project).as('own'),
    ]),
)
// One creation at a time: what others are creating isn't counted yet.
const lockCreation = command((db, _: object, on) =>
  db.selectNoFrom((on.dialect === 'postgres' ? sql`cast(pg_advisory_xact_lock(8785) as text)` : sql`1`).as('locked')),
)
const lockOne = command((db, a: { id: WebhookId }, on) =>
  on.lock(db.selectFrom('webhooks').select(OPEN).where('id', '=', a.id)),
)
const add = command((db, a: Omit<Row, 'id' | 'failing_since'>) =>
  db
    .insertInto('webhooks')
    .values({
      uuid: a.uuid,
      name: a.name,
      url: a.url,
      project_id: a.project_id,
      maker_user: a.maker_user,
      maker_project: a.maker_project,
      maker_roles: a.maker_roles,
      maker_system: a.maker_system,
      types: a.types,
      object: a.object,
      only_project: a.only_project,
      only_user: a.only_user,
      secret: a.secret,
      old_secret: null,
      old_secret_until: null,
      state: 'active',
      reason: null,
      state_at: a.created_at,
      cursor_sequence: a.cursor_sequence,
      cursor_part: a.cursor_part,
      missed_at: null,
      created_at: a.created_at,
      updated_at: null,
    })
    .returning(OPEN),
)
const put = command((db, a: Settings & { id: WebhookId; now: number }) =>
  db
    .updateTable('webhooks')
    .set({
      name: a.name,
      url: a.url,
      types: a.types,
      object: a.object,
      only_project: a.only_project,
      only_user: a.only_user,
      updated_at: a.now,
    })
    .where('id', '=', a.id)
    .returning(OPEN),
)
const putSecret = command((db, a: { id: WebhookId; secret: string; until: number; now: number }) =>
  db
    .updateTable('webhooks')
    .set(e => ({ old_secret: e.ref('secret'), old_secret_until: a.until, secret: a.secret, updated_at: a.now }))
    .where('id', '=', a.id)
    .returning(OPEN),
)
const putState = command((db, a: { id: WebhookId; state: Row['state']; reason: string | null; now: number }) =>
  db
    .updateTable('webhooks')
    .set({ state: a.state, reason: a.reason, state_at: a.now })
    .where('id', '=', a.id)
    .returning(OPEN),
)
const putFailing = command((db, a: { id: WebhookId; since: number | null }) =>
  db.updateTable('webhooks').set({ failing_since: a.since }).where('id', '=', a.id),
)
const forgetMissed = command((db, a: { id: WebhookId }) =>
  db.updateTable('webhooks').set({ missed_at: null }).where('id', '=', a.id),
)
const putCursor = command((db, a: { id: WebhookId; sequence: number; part: number }) =>
  db.updateTable('webhooks').set({ cursor_sequence: a.sequence, cursor_part: a.part }).where('id', '=', a.id),
)
const remove = command((db, a: { id: WebhookId }) => db.deleteFrom('webhooks').where('id', '=', a.id))

/** What its owner decides. */
export type Settings = Pick<Row, 'name' | 'url' | 'types' | 'object' | 'only_project' | 'only_user'>

/** Which webhooks a caller finds: those of its project, or all. */
export interface View {
  readonly project: string | null
  readonly all: 0 | 1
}

export const listWebhooks = (view: View): Read<Webhook[]> => all(listed(view))

export function* findWebhook(uuid: string, view: View): Read<Webhook> {
  const found = yield* one(byUuid({ uuid: uuid.toLowerCase(), ...view }))
  if (!found) throw problem('webhook_not_found', { uuid })
  return found
}

/** Finds a webhook and locks it: whoever changes it or its deliveries does so first. */
function* lockFound(uuid: string, view: View): Write<Webhook> {
  const { id } = yield* findWebhook(uuid, view)
  const locked = yield* lockWebhook(id)
  if (!locked) throw problem('webhook_not_found', { uuid })
  return locked
}

/** Notes whether its last try failed: then it has few places until one is taken. */
export function* noteFailing({ id, failing_since }: Webhook, isFailing: boolean, now: number): Write<void> {
  if (isFailing === (failing_since !== null)) return
  yield* run(putFailing({ id, since: isFailing ? now : null }))
}

export const lockWebhook = (id: WebhookId): Write<Webhook | undefined> => one(lockOne({ id }))

interface NewWebhook {
  readonly settings: Settings
  /** Null for all projects. */
  readonly project: string | null
  readonly maker: Maker
}

/** It is told of what happens from now on. The secret is shown once, here; mail has none. */
export function* createWebhook(
  { settings, project, maker }: NewWebhook,
  clock: Clock,
): Write<{ webhook: Webhook; secret: string | null }> {
  yield* run(lockCreation({}))
  const count = (yield* one(counted({ project })))!
  if (project !== null && count.own >= limits.webhooksPerProjectMax) {
    throw problem('webhook_too_many', { max: limits.webhooksPerProjectMax, whose: 'A project' })
  }
  if (count.all >= limits.webhooksMax) throw problem('webhook_too_many', { max: limits.webhooksMax, whose: 'A server' })
  const { sequence, part } = endOf((yield* logEnds()).newest)
  const secret = isMail(settings.url) ? null : newSecret(clock)
  const now = clock.now()
  const row: Omit<Row, 'id' | 'failing_since'> = {
    ...settings,
    uuid: clock.newUuid(),
    project_id: project,
    maker_user: maker.user,
    maker_project: maker.project,
    maker_roles: [...maker.roles].join(),
    maker_system: maker.systemScope ? 1 : 0,
    secret,
    old_secret: null,
    old_secret_until: null,
    state: 'active',
    reason: null,
    state_at: now,
    cursor_sequence: sequence,
    cursor_part: part,
    missed_at: null,
    created_at: now,
    updated_at: null,
  }
  const webhook = (yield* one(add(row)))!
  yield* mark(subjectOf(webhook))
  return { webhook, secret }
}

/** What came before goes to the new URL too, if it is still to be delivered. */
export function* changeWebhook(uuid: string, view: View, changes: Partial<Settings>, clock: Clock): Write<Webhook> {
  const webhook = yield* lockFound(uuid, view)
  const { name, url, types, object, only_project, only_user } = { ...webhook, ...changes }
  const now = clock.now()
  if (isMail(webhook.url) && !isMail(url)) {
    // It had none, and a receiver needs one.
    throw problem('webhook_invalid', { reason: 'A webhook that writes mail stays one; create another one.' })
  }
  const changed = (yield* one(put({ id: webhook.id, name, url, types, object, only_project, only_user, now })))!
  yield* mark(subjectOf(changed))
  return changed
}

export function* deleteWebhook(uuid: string, view: View): Write<void> {
  const webhook = yield* lockFound(uuid, view)
  yield* run(remove({ id: webhook.id }))
  yield* mark(subjectOf(webhook))
}

export function* changeSecret(uuid: string, view: View, clock: Clock): Write<{ webhook: Webhook; secret: string }> {
  const { id, url } = yield* lockFound(uuid, view)
  if (isMail(url)) throw problem('webhook_invalid', { reason: 'Mail is not signed, so there is no secret.' })
  const [secret, now] = [newSecret(clock), clock.now()]
  const webhook = (yield* one(putSecret({ id, secret, until: now + limits.oldSecretMs, now })))!
  yield* mark(subjectOf(webhook))
  return { webhook, secret }
}

/** By its owner. Its deliveries and its place in the log stay. */
export function* pauseWebhook(uuid: string, view: View, user: string, now: number): Write<Webhook> {
  const webhook = yield* lockFound(uuid, view)
  if (webhook.state !== 'active') return webhook
  return yield* halt(webhook, 'paused', `${user} paused it.`, now)
}

/** A webhook that was paused goes on where it was; one that was switched off begins anew. What is due is tried now. */
export function* resumeWebhook(uuid: string, view: View, now: number): Write<Webhook> {
  const { id, state } = yield* lockFound(uuid, view)
  if (state === 'disabled') {
    const { sequence, part } = endOf((yield* logEnds()).newest)
    yield* runAll([dropPending({ id }), putCursor({ id, sequence, part })])
  }
  const [webhook] = yield* all(putState({ id, state: 'active', reason: null, now }))
  yield* runAll([makeDue({ id, now }), forgetMissed({ id })])
  yield* mark(subjectOf(webhook!))
  return { ...webhook!, missed_at: null }
}

/** Stops a webhook that is locked: nothing of it is due then. Unless its owner did it, others are told. */
export function* halt(
  { id }: Webhook,
  state: 'paused' | 'disabled',
  reason: string,
  now: number,
  event: Partial<Subject> = {},
): Write<Webhook> {
  const webhook = (yield* one(putState({ id, state, reason, now })))!
  yield* run(unsetDue({ id }))
  yield* mark({ ...subjectOf(webhook), ...event })
  return webhook
}

/** What the audit and events say of it. Not its URL: for some receivers that is the key. */
export const subjectOf = ({ uuid, project_id, maker_user }: Webhook): Subject => ({
  kind: 'webhook',
  id: uuid,
  whose: { project: project_id, user: maker_user },
})

/** No types means all but the quiet ones. */
export const typesText = (types: readonly string[]) => jsonText<readonly string[]>([...new Set(types)])
