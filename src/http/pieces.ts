// Large answers: made in pieces while there is room for them, kept as pieces, and sent one a turn of the event loop, as
// fast as the client reads them.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { problem } from '../problems/problem.ts'
import { limits } from '../shared/limits.ts'
import { Turns } from '../shared/turns.ts'
import { type Held, Room } from './room.ts'
import { cut, Long } from './written.ts'

/** The body of an answer in pieces. */
export class Pieces {
  readonly buffers: readonly Buffer[]
  readonly bytes: number

  constructor(buffers: readonly Buffer[]) {
    this.buffers = buffers
    this.bytes = buffers.reduce((sum, { length }) => sum + length, 0)
  }

  static of(whole: Buffer): Pieces {
    return new Pieces(cut(whole))
  }
}

// Of the whole process, as memory is: what is being made, and what clients have not read yet.
const room = new Room({
  max: limits.answersBytesMax,
  share: limits.requestSharePercent / 100,
  waitMsMax: limits.answerWaitMsMax,
})
const turns = new Turns()

/** What there is of large answers now. */
export const largeAnswers = {
  get bytes() {
    return room.held
  },
  get waiting() {
    return room.waiting
  },
  /** The bytes of all that were made so far. */
  made: 0,
}

interface Sent {
  bytes: number
  stream: Readable
}

/**
 * The answer as a stream. Its bytes count as held by this caller from when they are made until they are sent, or the
 * connection closes. A client that reads nothing for too long is cut off.
 */
export async function sending(
  answer: Pieces | Long,
  caller: string,
  { raw }: Pick<FastifyReply, 'raw'>,
  idleMsMax: number = limits.answerIdleMsMax,
): Promise<Sent> {
  const held = await room.enter(caller, answer.bytes)
  const leave = () => held.leave()
  if (raw.closed) leave()
  else raw.once('close', leave)
  try {
    const { buffers, bytes } = answer instanceof Long ? new Pieces(await made(answer, caller, held)) : answer
    if (answer instanceof Long) held.settle()
    if (!raw.closed) raw.setTimeout(idleMsMax, () => raw.destroy())
    return { bytes, stream: streamOf(buffers) }
  } catch (error) {
    leave()
    throw error
  }
}

async function made(answer: Long, caller: string, held: Held): Promise<Buffer[]> {
  const buffers: Buffer[] = []
  for (;;) {
    await turns.next(caller)
    if (held.isOver) throw problem('unavailable', { reason: 'The client has left.' })
    const next = await answer.next()
    if (next === null) return buffers
    for (const piece of next) {
      held.use(piece.length)
      largeAnswers.made += piece.length
      buffers.push(piece)
    }
  }
}

function streamOf(buffers: readonly Buffer[]): Readable {
  let next = 0
  return new Readable({
    // The next piece is asked for when the last one is with the client's socket, or nearly.
    highWaterMark: 1,
    read() {
      setImmediate(() => this.push(buffers[next++] ?? null))
    },
  })
}
