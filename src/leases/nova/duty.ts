// The duty that brings to Nova what our tables say. Any number of processes do this at once: a row is taken for a term,
// and is free again when its process didn't live to say what came of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Witness } from '../../audit/witness.ts'
import { type Nova, NovaAway, NovaRefusal } from '../../nova/port.ts'
import { inFull } from '../../nova/words.ts'
import { Duty } from '../../shared/duty.ts'
import { limits } from '../../shared/limits.ts'
import type { Store } from '../../store/store.ts'
import type { LeaseContext } from '../context.ts'
import { bringAbout, waitMs } from './round.ts'
import { adoptLeases, freeWork, holdWork, nextWork, type Outcome, takeWork, type Work } from './rows.ts'
import { settled } from './trouble.ts'
import { wishFor } from './wish.ts'

type Working = Pick<LeaseContext, 'clock' | 'log'> & {
  store: Pick<Store, 'read' | 'write' | 'dialect'>
  nova: Nova
  witness: Witness
}

/** The wish has changed, or another process has the row by now: this round stops where it is. */
class Overtaken extends Error {}

export function novaDuty(context: Working): Duty {
  const { store, clock, log } = context
  let isFirst = true
  const run = async (isStopped: () => boolean) => {
    if (isFirst) await store.write(() => adoptLeases(clock.now()))
    // On SQLite there is one process: whoever had taken rows before it is dead.
    if (isFirst && store.dialect === 'sqlite') await store.write(freeWork)
    isFirst = false
    await workDue(context, isStopped)
    const next = await store.read(nextWork)
    return next === null ? null : Math.max(next - clock.now(), 0)
  }
  return new Duty({ name: 'nova', pollMs: limits.conductorPollMs, run, log })
}

/** Works on all that is due, a few rows at a time. One that hangs doesn't keep the others waiting. */
async function workDue(context: Working, isStopped: () => boolean): Promise<void> {
  const underWay = new Set<Promise<void>>()
  for (;;) {
    const isFull = underWay.size >= limits.novaWorkAtOnce || isStopped()
    const work = isFull ? undefined : await context.store.write(() => takeWork(context.clock.now()))
    if (work) {
      const working: Promise<void> = workOn(context, work).finally(() => underWay.delete(working))
      underWay.add(working)
      continue
    }
    if (underWay.size === 0) return
    // Others may become due meanwhile.
    const over = new AbortController()
    const later = sleep(limits.novaRetryMs, null, { signal: over.signal, ref: false }).catch(() => {})
    await Promise.race([...underWay, later]).finally(() => over.abort())
  }
}

/** Never throws: what can't be written down is done again after the term. */
async function workOn(context: Working, work: Work): Promise<void> {
  try {
    await settled(context, work, await outcomeOf(context, work))
  } catch (error) {
    context.log.warn({ err: error, reservation: work.reservation_id }, 'work for Nova failed; it is done again')
  }
}

async function outcomeOf(context: Working, work: Work): Promise<Outcome> {
  const { store, clock, nova, log } = context
  const round = { nova, attempts: work.attempts, hold: holdOn(context, work) }
  try {
    const wish = await store.read(() => wishFor(work.reservation_id))
    const result = await bringAbout(round, wish)
    if (result.kind === 'done') return result
    const error = result.said.length === 0 ? null : clip(result.said.join('; '))
    return { kind: 'waiting', at: clock.now() + waitMs(work.attempts), error, isClear: result.isClear }
  } catch (error) {
    if (error instanceof Overtaken) return { kind: 'overtaken' }
    if (!(error instanceof NovaAway) && !(error instanceof NovaRefusal)) throw error
    log.warn({ reservation: work.reservation_id, reason: inFull(error) }, 'Nova could not be told')
    return { kind: 'failed', at: clock.now() + retryMs(error, work.failures), error: clip(error.message) }
  }
}

/** Begins the term anew before each change in Nova. One at a time, since each needs what the last one wrote. */
function holdOn({ store, clock }: Working, work: Work): () => Promise<void> {
  let last = Promise.resolve()
  const hold = async () => {
    const until = await store.write(() => holdWork(work, clock.now()))
    if (until === null) throw new Overtaken()
    work.taken_until = until
    // A process that slept over its term may not be the only one.
    if (until <= clock.now()) throw new Overtaken()
    work.isBegun = true
  }
  return () => (last = last.then(hold))
}

/** A refusal needs someone to do something, and is asked for rarely; whoever is away may be back in a moment. */
const retryMs = (error: Error, failures: number): number =>
  error instanceof NovaRefusal
    ? limits.novaRetryMsMax
    : Math.min(limits.novaRetryMs * 2 ** Math.min(failures, 10), limits.novaRetryMsMax)

/** Without the full stop at its end: it becomes a part of sentences. */
const clip = (text: string): string =>
  (text.length > limits.novaMessageMax ? `${text.slice(0, limits.novaMessageMax - 1)}…` : text).replace(/\.$/, '')
