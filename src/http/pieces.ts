// Large answers: kept as pieces, and sent one a turn of the event loop, as fast as the client reads them.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { problem } from '../problems/problem.ts'
import { limits } from '../shared/limits.ts'
import { Shares } from './shares.ts'

/** The body of an answer in pieces. */
export class Pieces {
  readonly buffers: readonly Buffer[]
  readonly bytes: number

  constructor(buffers: readonly Buffer[]) {
    this.buffers = buffers
    this.bytes = buffers.reduce((sum, { length }) => sum + length, 0)
  }
}

// Of the whole process, as memory is: what clients have been answered and have not read yet.
const held = new Shares({ max: limits.answersBytesMax, share: 0.5 })

/**
 * The pieces as a stream. They count as held by this caller until they are sent, or the connection closes. A client that
 * reads nothing for too long is cut off.
 */
export function sending(
  { buffers, bytes }: Pieces,
  holder: string,
  { raw }: FastifyReply,
  idleMsMax: number = limits.answerIdleMsMax,
): Readable {
  const wanting = held.take(holder, bytes)
  if (wanting === 'all') throw problem('unavailable', { reason: 'Too many large answers are being read; try again.' })
  if (wanting === 'share') throw problem('too_many_requests', { retrySeconds: limits.crowdedRetrySeconds })
  let next = 0
  const stream = new Readable({
    // The next piece is asked for when the last one is with the client's socket, or nearly.
    highWaterMark: 1,
    read() {
      setImmediate(() => this.push(buffers[next++] ?? null))
    },
  })
  const giveBack = () => held.giveBack(holder, bytes)
  if (raw.closed) giveBack()
  else raw.once('close', giveBack).setTimeout(idleMsMax, () => raw.destroy())
  return stream
}

/** How many bytes of large answers have not been read yet. */
export const bytesHeld = (): number => held.all
