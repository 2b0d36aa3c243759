// withNode: allocates a node, does a piece of work with it, and releases it. `holdfast run` keeps its node with the same
// parts.
import { plainClock } from '../clock/plain.ts'
import { durationIn, SPAN_MS_MAX } from '../shared/when.ts'
import type { Allocation, Ending } from './allocations.ts'
import { WrongUse, NodeLost, WaitedTooLong } from './errors.ts'
import type { Holdfast } from './index.ts'
import { givenBack, newKeeper, termOf } from './keeping.ts'
import { lookForNode } from './node-look.ts'
import type { Node } from './nodes.ts'
import type { NodeSource, Term } from './renewal.ts'
import { LeasedNode } from './run-lease.ts'
import { RunWait } from './run-wait.ts'
import { untilInstant } from './timers.ts'
import { waitFor } from './waiting.ts'

/** Milliseconds, or a text such as `90s`, `10m`, `2h` or `1d`. */
type Duration = number | string

export interface NodeWanted {
  /** A node of this class. Needed, unless `lease` is given. */
  resource_class?: string | undefined
  /** With all of these. */
  traits?: readonly string[] | undefined
  /** One of these. */
  candidate_nodes?: readonly string[] | undefined
  /** The name of the allocation. */
  name?: string | undefined
  /** A node that this lease has, instead of an allocation of its own. */
  lease?: string | undefined
  /** How long the work may take at most: then its signal is aborted with WaitedTooLong. */
  for?: Duration | undefined
  /** How long to wait while there is no node. Without it, NoFit is thrown at once. */
  wait?: Duration | undefined
  /** Ends the wait, and aborts the signal of the work. */
  signal?: AbortSignal | undefined
  /** Who works there, for others to read; the user if it isn't said. */
  keeper?: string | undefined
  /** How often the allocation is renewed: 20 s if it isn't said. A node whose work is gone is free after three times that. */
  renewEvery?: Duration | undefined
}

/** `signal` is aborted when the node is lost or taken back, or when the time is over: the work must end then. */
export type NodeWork<T> = (node: Node, signal: AbortSignal, allocation: Allocation) => Promise<T>

const RENEW_EVERY_MS = 20_000

/**
 * Throws what the work throws. If the signal of the work was aborted it throws the signal's reason, whatever the work
 * returned: NodeLost, WaitedTooLong, or the reason of the caller's own signal.
 */
export async function withNode<T>(server: Holdfast, user: string, wanted: NodeWanted, work: NodeWork<T>): Promise<T> {
  if (wanted.lease === undefined && wanted.resource_class === undefined) {
    throw new WrongUse('withNode needs a resource_class, or a lease')
  }
  const { signal } = wanted
  const over = new AbortController()
  const term = termOf(msIn(wanted.renewEvery ?? RENEW_EVERY_MS), () => {})
  const forMs = wanted.for === undefined ? Infinity : msIn(wanted.for)
  const source = sourceOf(server, wanted, newKeeper(wanted.keeper ?? user), term)
  const stop = () => over.abort(signal!.reason)
  try {
    signal?.throwIfAborted()
    const allocation = await source.node(signal)
    signal?.addEventListener('abort', stop)
    signal?.throwIfAborted()
    const look = async (each: AbortSignal) => ({ done: await server.within(each).nodes.show(allocation.node_uuid!) })
    const node = await waitFor(look, { timeoutMs: term.lastsMs, signal: over.signal })
    return await worked(source.renewal!, term, plainClock.now() + forMs, over, () =>
      work(node, over.signal, allocation),
    )
  } finally {
    signal?.removeEventListener('abort', stop)
    source.renewal?.stop()
    const { held, renewal } = source
    // If it can't be released, it ends by itself when nobody renews it.
    if (held) await givenBack(server, held, renewal !== null)
  }
}

/** Does the work while the node is kept. */
async function worked<T>(
  renewal: NonNullable<NodeSource['renewal']>,
  { graceMs, now }: Term,
  endsAt: number,
  over: AbortController,
  work: () => Promise<T>,
): Promise<T> {
  const done = new AbortController()
  const hear = ({ news }: { news: Ending | string }) => {
    if (done.signal.aborted) return
    renewal.stop()
    over.abort(lostBy(news))
  }
  void renewal.taken(done.signal).then(hear)
  if (endsAt !== Infinity) await renewal.plan(endsAt)
  // The server has the node for us a little longer, so that the work can end.
  const timer = untilInstant(endsAt, now, () => over.abort(new WaitedTooLong('the time for the work is over')))
  try {
    if (renewal.left() <= graceMs) throw new NodeLost('the node is lost: it could not be renewed in time')
    over.signal.throwIfAborted()
    const result = await work()
    over.signal.throwIfAborted()
    // Work that blocked the event loop has heard nothing, and nothing was renewed.
    if (renewal.left() <= 0) throw new NodeLost('the node is lost: the work has kept it from being renewed')
    return result
  } catch (error) {
    // What the work throws after that is only how it ended.
    over.signal.throwIfAborted()
    throw error
  } finally {
    timer.stop()
    done.abort()
  }
}

function lostBy(news: Ending | string): NodeLost {
  if (typeof news === 'string') return new NodeLost(`the node is lost: ${news === 'gone' ? 'it is gone' : news}`)
  const { by, message, until } = news
  return new NodeLost(`${by} ends this allocation${message === null ? '' : `: ${message}`}; until ${until}`, news)
}

function sourceOf(server: Holdfast, wanted: NodeWanted, keeper: string, term: Term): NodeSource {
  // The session logs in again by itself.
  const connect = () => Promise.resolve(server)
  if (wanted.lease !== undefined) return new LeasedNode(server, { lease: wanted.lease, keeper, term, connect })
  const { resource_class, traits, candidate_nodes, name, wait } = wanted
  return new RunWait(server, {
    wanted: { resource_class, traits, candidate_nodes, name, keeper },
    term,
    wait: { timeoutMs: wait === undefined ? null : msIn(wait), startedAt: plainClock.now() },
    isWaiting: wait !== undefined,
    newUuid: plainClock.newUuid,
    connect,
    lookFor: (at, uuid) => signal => lookForNode(at.within(signal).allocations, uuid),
  })
}

function msIn(duration: Duration): number {
  const ms = typeof duration === 'number' ? duration : durationIn(duration)
  if (ms !== null && ms > 0 && ms <= SPAN_MS_MAX) return ms
  throw new WrongUse(`'${duration}' is no duration such as 90s, 10m, 2h or 1d, nor a number of milliseconds`)
}
