// /webhooks: who is told of events, and where. A project's members have their own; admins have all.
import { problem } from '../../problems/problem.ts'
import { jsonText, shownIn, TEXTS } from '../../shared/json.ts'
import { limits } from '../../shared/limits.ts'
import { REMINDERS, typeIn } from '../../webhooks/filter.ts'
import { type Delivery, dropDelivery, lastDeliveries, targetsOf } from '../../webhooks/outbox.ts'
import { isMail, requireReachable, targetIn } from '../../webhooks/targets.ts'
import {
  changeSecret,
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  lockWebhook,
  pauseWebhook,
  resumeWebhook,
  type Settings,
  subjectOf,
  typesText,
  type View,
  type Webhook,
} from '../../webhooks/webhooks.ts'
import { mark } from '../../store/transaction.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, Flag, named, oneOf, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Name = Type.String({ minLength: 1, maxLength: limits.nameCharsMax })
const Types = Type.Array(Name, { maxItems: limits.webhookTypesMax })
const Changeable = {
  name: Type.Optional(Type.String({ maxLength: limits.nameCharsMax })),
  types: Type.Optional(Types),
  object: Type.Optional(orNull(Name)),
  only_project: Type.Optional(orNull(Name)),
  only_user: Type.Optional(orNull(Name)),
}

const newOne = check(
  Type.Object({ url: Text, project: Type.Optional(orNull(Name)), ...Changeable }, { additionalProperties: false }),
)
const changes = check(
  Type.Object(
    { url: Type.Optional(Text), ...Changeable, state: Type.Optional(oneOf('paused')) },
    { additionalProperties: false },
  ),
)

const SHAPE = {
  uuid: Uuid,
  name: Text,
  url: Text,
  project: TextOrNull,
  user: Text,
  types: Type.Array(Text),
  object: TextOrNull,
  only_project: TextOrNull,
  only_user: TextOrNull,
  state: oneOf('active', 'paused', 'disabled'),
  reason: TextOrNull,
  state_at: Text,
  missed_at: TextOrNull,
  old_secret_until: TextOrNull,
  created_at: Text,
  updated_at: TextOrNull,
}
const Shown = named('Webhook', SHAPE)
const WithSecret = named('WebhookWithSecret', { ...SHAPE, secret: TextOrNull })

/** The answer of a receiver to one try. */
const Tried = named('WebhookTest', {
  delivered: Flag,
  status: orNull(Count),
  ms: Count,
  text: Text,
  error: TextOrNull,
})
const ShownDelivery = named('Delivery', {
  id: Count,
  message: Text,
  type: Text,
  subject: Text,
  status: oneOf('pending', 'delivered', 'dropped'),
  attempts: Count,
  created_at: Text,
  first_at: TextOrNull,
  next_at: TextOrNull,
  answered_at: TextOrNull,
  answer_status: orNull(Count),
  answer_ms: orNull(Count),
  answer_text: TextOrNull,
  error: TextOrNull,
})

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

const shown = (webhook: Webhook) => ({
  uuid: webhook.uuid,
  name: webhook.name,
  url: webhook.url,
  project: webhook.project_id,
  user: webhook.maker_user,
  types: shownIn(webhook.types, TEXTS),
  object: webhook.object,
  only_project: webhook.only_project,
  only_user: webhook.only_user,
  state: webhook.state,
  reason: webhook.reason,
  state_at: timeOf(webhook.state_at),
  missed_at: timeOf(webhook.missed_at),
  old_secret_until: timeOf(webhook.old_secret_until),
  created_at: timeOf(webhook.created_at),
  updated_at: timeOf(webhook.updated_at),
})

const shownDelivery = (delivery: Delivery) => ({
  id: delivery.id,
  message: delivery.message,
  type: `holdfast.${delivery.type}`,
  subject: delivery.subject,
  status: delivery.status,
  attempts: delivery.attempts,
  created_at: timeOf(delivery.created_at),
  first_at: timeOf(delivery.first_at),
  next_at: timeOf(delivery.due_at),
  answered_at: timeOf(delivery.answered_at),
  answer_status: delivery.answer_status,
  answer_ms: delivery.answer_ms,
  answer_text: delivery.answer_text,
  error: delivery.error,
})

/** The webhooks that the caller finds. */
function viewOf(request: OperatorRequest): View {
  const seesAll = request.may('holdfast:webhooks:list_all', {}) && request.may(request.route!.action!, {})
  return { project: request.caller.project, all: seesAll ? 1 : 0 }
}

getWebhooks.operation = {
  summary: 'List the webhooks of the project; for admins those of all',
  answers: { 200: Type.Object({ webhooks: Type.Array(Shown) }) },
} satisfies Operation

export async function getWebhooks(request: OperatorRequest): Promise<Answer> {
  const found = await request.context.store.read(() => listWebhooks(viewOf(request)))
  return { status: 200, body: { webhooks: found.map(shown) } }
}

postWebhook.operation = {
  summary: 'Have events sent to a URL; the secret that signs them is shown only here',
  body: [newOne],
  answers: { 201: WithSecret },
} satisfies Operation

export async function postWebhook(request: OperatorRequest): Promise<Answer> {
  const { store, clock } = request.context
  const given = request.body(newOne)
  const { caller } = request
  const project = given.project === undefined ? caller.project : given.project
  request.requireAllowed('holdfast:webhooks:set', project === null ? {} : { project })
  const url = await urlIn(request, given.url)
  const types = typesIn(given.types ?? (isMail(url) ? REMINDERS : []))
  const settings = {
    name: given.name ?? '',
    url,
    types,
    object: given.object ?? null,
    only_project: given.only_project ?? null,
    // People are written to about what is theirs.
    only_user: given.only_user === undefined && isMail(url) ? caller.user : (given.only_user ?? null),
  }
  // It begins after all that is committed now.
  await store.ordered()
  const { webhook, secret } = await store.write(() => createWebhook({ settings, project, maker: caller }, clock))
  return { status: 201, body: { ...shown(webhook), secret }, location: `/webhooks/${webhook.uuid}` }
}

async function urlIn({ context }: OperatorRequest, text: string): Promise<string> {
  const { rules } = context.carrier
  const url = targetIn(text, rules)
  await requireReachable(url, rules)
  return url.href
}

function typesIn(given: readonly string[]): Settings['types'] {
  return typesText(
    given.map(text => {
      const type = typeIn(text)
      if (type === null) throw problem('webhook_invalid', { reason: `There are no events of the type ${text}.` })
      return type
    }),
  )
}

getWebhook.operation = { summary: 'Show a webhook', answers: { 200: Shown } } satisfies Operation

export async function getWebhook(request: OperatorRequest): Promise<Answer> {
  return { status: 200, body: shown(await found(request)) }
}

const found = (request: OperatorRequest) =>
  request.context.store.read(() => findWebhook(request.param('uuid'), viewOf(request)))

patchWebhook.operation = {
  summary: 'Change where events go and which, or pause them',
  body: [changes],
  answers: { 200: Shown },
} satisfies Operation

export async function patchWebhook(request: OperatorRequest): Promise<Answer> {
  const { store, clock } = request.context
  const [uuid, view] = [request.param('uuid'), viewOf(request)]
  await found(request)
  const { url, types, state, ...others } = request.body(changes)
  const changed = {
    ...others,
    ...(url !== undefined && { url: await urlIn(request, url) }),
    ...(types !== undefined && { types: typesIn(types) }),
  }
  const webhook = await store.write(function* () {
    const after = yield* changeWebhook(uuid, view, changed, clock)
    return state === undefined ? after : yield* pauseWebhook(uuid, view, request.user, clock.now())
  })
  return { status: 200, body: shown(webhook) }
}

deleteOneWebhook.operation = {
  summary: 'Delete a webhook, with what was still to be delivered',
  answers: { 204: null },
} satisfies Operation

export async function deleteOneWebhook(request: OperatorRequest): Promise<Answer> {
  await request.context.store.write(() => deleteWebhook(request.param('uuid'), viewOf(request)))
  return { status: 204 }
}

postSecret.operation = {
  summary: 'Make a new secret; the old one signs too for a day',
  answers: { 200: WithSecret },
} satisfies Operation

export async function postSecret(request: OperatorRequest): Promise<Answer> {
  const { store, clock } = request.context
  const { webhook, secret } = await store.write(() => changeSecret(request.param('uuid'), viewOf(request), clock))
  return { status: 200, body: { ...shown(webhook), secret } }
}

postResume.operation = {
  summary: 'Go on with a webhook, and try now what waits',
  answers: { 200: Shown },
} satisfies Operation

export async function postResume(request: OperatorRequest): Promise<Answer> {
  const { store, clock } = request.context
  await store.ordered()
  const webhook = await store.write(() => resumeWebhook(request.param('uuid'), viewOf(request), clock.now()))
  return { status: 200, body: shown(webhook) }
}

postTest.operation = {
  summary: 'Send a test event now, and show what the receiver answered',
  answers: { 200: Tried },
} satisfies Operation

export async function postTest(request: OperatorRequest): Promise<Answer> {
  const { store, clock, carrier } = request.context
  const webhook = await found(request)
  const waitMs = request.context.webhookTests.take(webhook.project_id ?? '')
  if (waitMs > 0) throw problem('webhook_tests_too_many', { retrySeconds: Math.ceil(waitMs / 1_000) })
  const target = (await store.read(() => targetsOf([webhook.id], clock.now()))).get(webhook.id)
  if (!target) throw problem('webhook_not_found', { uuid: webhook.uuid })
  const now = clock.now()
  const id = `test_${clock.newUuid()}`
  const event = {
    specversion: '1.0',
    id,
    source: carrier.source,
    type: 'holdfast.webhook.test',
    subject: `webhook/${webhook.uuid}`,
    time: new Date(now).toISOString(),
    datacontenttype: 'application/json',
    data: { name: webhook.name, by: { user: request.user, project: request.caller.project, request: request.id } },
  }
  const { signal } = new AbortController()
  const { status, ms, text, error } = await carrier.send(
    target,
    { id: `msg_${id}`, body: jsonText<object>(event) },
    now,
    signal,
  )
  return { status: 200, body: { delivered: error === null, status, ms, text, error } }
}

getDeliveries.operation = {
  summary: 'List the last deliveries of a webhook with their answers, newest first',
  answers: { 200: Type.Object({ deliveries: Type.Array(ShownDelivery) }) },
} satisfies Operation

export async function getDeliveries(request: OperatorRequest): Promise<Answer> {
  const { id } = await found(request)
  const deliveries = await request.context.store.read(() => lastDeliveries(id, limits.deliveriesKept))
  return { status: 200, body: { deliveries: deliveries.map(shownDelivery) } }
}

deleteDelivery.operation = {
  summary: 'Give up on a delivery that its receiver can not take, so that those behind it can go',
  answers: { 204: null },
} satisfies Operation

export async function deleteDelivery(request: OperatorRequest): Promise<Answer> {
  const webhook = await found(request)
  const { now } = request
  await request.context.store.write(function* () {
    const locked = yield* lockWebhook(webhook.id)
    if (!locked) throw problem('webhook_not_found', { uuid: webhook.uuid })
    yield* dropDelivery(request.param('delivery'), locked.id, locked.state === 'active', now)
    yield* mark(subjectOf(locked))
  })
  return { status: 204 }
}
