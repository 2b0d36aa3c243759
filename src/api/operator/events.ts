// /holdfast/v1/events: what became of each object, as a stream or in pages.
import { cloudEventOf, type Cursor, type HoldfastEvent, textOf } from '../../events/event.ts'
import { logEnds } from '../../audit/order.ts'
import { requireKept } from '../../events/read.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import { sees } from '../event-rights.ts'
import { CloudEvent } from '../event-shapes.ts'
import { quality } from '../frame/accept.ts'
import type { Operation } from '../operation.ts'
import { Flag, named, Text } from '../shapes.ts'
import { type EventFilter, eventFilterOf, parameters } from './event-filter.ts'
import { EventStream } from './event-stream.ts'
import { callerNow, holderOf, STREAM, STREAM_HEADERS } from './lasting.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const BATCH = 'application/cloudevents-batch+json'

getEvents.operation = {
  summary: 'Hear what became of each object, as a stream or in pages',
  description:
    'With accept: text/event-stream it is a stream of server-sent events that goes on, else a page. Both begin now, ' +
    'or after the event whose id is in after or in the header Last-Event-ID; after=0 is all that is kept. ' +
    'With wait a page waits until there is something. A cursor that is no longer kept is answered with 410.',
  query: [parameters],
  answers: {
    200: named('Events', {
      events: Type.Array(CloudEvent),
      // Where the next page begins.
      cursor: Text,
      // Whether there is more to be read now.
      more: Flag,
    }),
  },
  otherTypes: { [STREAM]: Text, [BATCH]: Type.Array(CloudEvent) },
} satisfies Operation

export async function getEvents(request: OperatorRequest): Promise<Answer> {
  const filter = eventFilterOf(request)
  const accept = request.header('accept') ?? ''
  const prefers = (type: string, subtype: string) =>
    quality(accept, type, subtype) > quality(accept, 'application', 'json')
  const after = await placeOf(request, filter)
  if (prefers('text', 'event-stream')) {
    // The answer to HEAD is sent when its body ends, and a stream has no end.
    return request.raw.method === 'HEAD' ? { status: 200, headers: STREAM_HEADERS } : stream(request, filter, after)
  }
  const { events, cursor, more } = await page(request, filter, after)
  const { eventSource } = request.context.config
  const shown = events.map(event => cloudEventOf(event, eventSource))
  const fresh = { 'cache-control': 'no-store' }
  if (!prefers('application', 'cloudevents-batch+json')) {
    return { status: 200, body: { events: shown, cursor: textOf(cursor), more }, headers: fresh }
  }
  const headers = { ...fresh, 'content-type': BATCH, 'holdfast-cursor': textOf(cursor) }
  // Bytes, because fastify adds a charset to text, and this type has none.
  return { status: 200, body: Buffer.from(JSON.stringify(shown)), headers }
}

/** Where to begin. What is no longer kept, or not there yet, is refused: the client would miss something. */
async function placeOf({ context: { store, publisher } }: OperatorRequest, { after }: EventFilter): Promise<Cursor> {
  if (after === null) return publisher.newest()
  // What the client has seen committed is in the first page.
  await store.ordered()
  requireKept(after, await store.read(() => logEnds()))
  return after
}

function stream(request: OperatorRequest, { kinds, matches }: EventFilter, after: Cursor): Answer {
  const { publisher, policy, config, metrics, log, streams } = request.context
  let { caller } = request
  const recheck = async () => {
    const present = await callerNow(request)
    if (typeof present === 'string') return present
    caller = present
    return null
  }
  const body = new EventStream({
    publisher,
    source: config.eventSource,
    after,
    kinds,
    isWanted: event => matches(event) && sees(policy, caller, event),
    recheck,
    told: count => metrics.eventsTold('stream', count),
    failed: error => log.warn({ request: request.id, err: error }, 'a stream of events could not read the log'),
  })
  const leave = streams.enter(holderOf(request), () => body.end('the service is stopping; come back'))
  body.once('close', leave)
  return { status: 200, body, headers: STREAM_HEADERS }
}

interface Page {
  events: HoldfastEvent[]
  cursor: Cursor
  more: boolean
}

/** The next events. If there are none, waits for some as long as the client asks. */
async function page(request: OperatorRequest, filter: EventFilter, after: Cursor): Promise<Page> {
  const { metrics, streams } = request.context
  const { socket } = request.raw.raw
  const over = new AbortController()
  const abort = () => over.abort()
  const leave = streams.enter(holderOf(request), abort)
  const timer = setTimeout(abort, filter.waitMs)
  // It may be closed already, and then it doesn't say so again.
  if (filter.waitMs === 0 || socket.destroyed) abort()
  socket.once('close', abort)
  try {
    const found = await nextEvents(request, filter, after, over.signal)
    metrics.eventsTold('page', found.events.length)
    return found
  } finally {
    leave()
    clearTimeout(timer)
    socket.off('close', abort)
  }
}

async function nextEvents(
  { context: { publisher, policy }, caller }: OperatorRequest,
  { kinds, matches, limit }: EventFilter,
  after: Cursor,
  over: AbortSignal,
): Promise<Page> {
  const events: HoldfastEvent[] = []
  let cursor = after
  for (let left = limits.eventEntriesLookedAt; left > 0;) {
    const isLast = over.aborted
    const read = await publisher.read(cursor, kinds)
    for (const event of read.events) {
      if (!matches(event) || !sees(policy, caller, event)) continue
      if (events.length === limit) return { events, cursor: events.at(-1)!, more: true }
      events.push(event)
    }
    cursor = read.cursor
    if (!read.isLast) left -= limits.eventPageMax
    else if (events.length > 0 || isLast) return { events, cursor, more: false }
    else await publisher.changed(cursor, kinds, over)
  }
  return { events, cursor, more: true }
}

postTicket.operation = {
  summary: 'Get a ticket to open a stream of events with',
  description:
    'For browsers, whose EventSource can not send a token: GET /events?ticket=… within a minute. ' +
    'The ticket is for the caller of this request.',
  answers: { 201: named('EventTicket', { ticket: Text, expires_at: Text }) },
} satisfies Operation

export async function postTicket(request: OperatorRequest): Promise<Answer> {
  const issued = await request.context.identity.tickets.issue(request.raw.headers)
  if (!issued) throw problem('ticket_by_password', {})
  const { ticket, expiresAt } = issued
  const body = { ticket, expires_at: new Date(expiresAt).toISOString() }
  return { status: 201, body, headers: { 'cache-control': 'no-store' } }
}
