// GET /holdfast/v1/status: who has what, until when, who waits, and what comes. One answer, made from memory, or a
// stream that goes on with what changes.
import { Readable } from 'node:stream'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { prefersStream } from '../frame/accept.ts'
import { callerNow, holderOf, STREAM, STREAM_HEADERS } from './lasting.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { parameters, type StatusFilter, statusFilterOf } from './status-filter.ts'
import { StatusFollowing } from './status-following.ts'
import { hostsOf } from './status-hosts.ts'
import { StatusRights } from './status-rights.ts'
import { StatusChange, StatusShape } from './status-shapes.ts'
import { StatusStream } from './status-stream.ts'
import { bodyOf, headOf, meOf, spansOf, textsOf } from './status-texts.ts'
import { waitingText } from './status-waiting.ts'

getStatus.operation = {
  summary: 'Say who has what, until when, who waits, and what comes',
  description:
    'All of it is true up to the place in the log that sequence names: a stream of events after it tells the rest. ' +
    'Names are left out where the caller may not know them, and may lists what the caller may do with each. ' +
    'With spans=FROM/TO it also says what is promised between two times. ' +
    'mine leaves what the caller has; the other parameters filter machines. ' +
    'With accept: text/event-stream it is a stream: each of its data is a StatusChange, first with everything, or with ' +
    'what changed since the cursor in since or in the header Last-Event-ID. With since an answer is a StatusChange, too. ' +
    'Neither takes filters.',
  query: [parameters],
  answers: { 200: StatusShape },
  otherTypes: { [STREAM]: StatusChange },
} satisfies Operation

export async function getStatus(request: OperatorRequest): Promise<Answer> {
  const filter = statusFilterOf(request)
  const isStream = prefersStream(request.header('accept') ?? '')
  if (isStream || filter.since !== null) return follow(request, filter, isStream)
  const { board } = request.context
  const rights = new StatusRights(request)
  const sequence = await board.fresh()
  // Memory has caught up with the board, so none of this is older.
  const hosts = rights.seesHosts ? await hostsOf(request, rights.sight) : []
  const viewpoint = board.viewpoint(rights.sight)
  const waiting = await waitingText(request, rights, viewpoint, filter)
  const machines = textsOf(request, rights, viewpoint, filter)
  // After the machines, whose texts may bring new traits.
  const rest = { traits: [...viewpoint.traits.keys()], spans: spansOf(request, rights, filter) }
  const head = { ...headOf(request, sequence), me: meOf(request, rights) }
  return whole(bodyOf(head, machines, rest, { hosts: JSON.stringify(hosts), waiting }))
}

function whole(body: readonly Buffer[]): Answer {
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  return {
    status: 200,
    body: Readable.from(body),
    headers: { 'cache-control': 'no-store', 'content-length': `${length}` },
  }
}

/** What changed since a cursor, as a stream that goes on, or as one answer. */
async function follow(request: OperatorRequest, filter: StatusFilter, isStream: boolean): Promise<Answer> {
  if (filter.isFiltered) {
    throw problem('invalid_query', { reason: 'What changed is told of all that you see: only spans can be asked for.' })
  }
  // The answer to HEAD is sent when its body ends, and a stream has no end.
  if (isStream && request.raw.method === 'HEAD') return { status: 200, headers: STREAM_HEADERS }
  const sequence = await request.context.board.fresh()
  const following = new StatusFollowing(request, filter.window)
  // A browser that comes back repeats the URL of its first time, and says in the header where it is now.
  const since = (isStream && request.header('last-event-id')) || filter.since
  if (since !== null) following.resume(since)
  if (!isStream) return whole((await following.next(sequence)) ?? [])
  const { pulse, log, streams } = request.context
  const recheck = async () => {
    const caller = await callerNow(request)
    if (typeof caller === 'string') return caller
    request.raw.caller = caller
    return request.may('holdfast:status:get') ? null : 'you may not see the status any more'
  }
  const failed = (error: unknown) => log.warn({ request: request.id, err: error }, 'a stream of the status failed')
  const body = new StatusStream({ pulse, following, sequence, recheck, failed })
  try {
    const leave = streams.enter(holderOf(request), () => body.end('the service is stopping; come back'))
    body.once('close', leave)
  } catch (error) {
    body.destroy()
    throw error
  }
  return { status: 200, body, headers: STREAM_HEADERS, lasts: true }
}
