// Waits until an allocation has a node, and takes it back on Ctrl-C.
import { type Allocation, ApiError, type Holdfast } from '../client/index.ts'
import { ifThere } from '../client/asking.ts'
import { lookAtHandOver } from '../client/node-look.ts'
import type { Look } from '../client/waiting.ts'
import { answered, waitFor } from './progress.ts'
import { durationOf } from './client-command.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { type Asked, cancelled, interruptible } from './interrupt.ts'
import { localTime } from './local-time.ts'
import { printAllocation } from './allocation-sheet.ts'
import type { OutputFlags } from './output.ts'
import { placeWords } from './queue-words.ts'
import { causesIn, relaxationIn, causeIn } from './reasons.ts'
import { lasting } from '../client/renewal.ts'
import { VERDICT_GRACE_MS } from '../client/run-wait.ts'
import type { KeepFlags, Wait } from './wait-flags.ts'

type WaitingFlags = OutputFlags & KeepFlags & { waitUntil?: string }

interface Sending {
  send: (signal: AbortSignal, waitUntil: string | undefined) => Promise<Allocation>
  find: (signal: AbortSignal) => Promise<Allocation | null>
  /** Whether it is made here. Then it is removed if it fails, so that its name isn't taken. */
  isNew: boolean
}

/** The allocation got no node, and is in the state error; or the node can't be handed over. */
class NoNode extends CommandFailure {}

/** Asks for a node, waits until there is one, and prints the allocation. */
export async function printWhenReady(
  server: Holdfast,
  ident: string,
  wait: Wait,
  flags: WaitingFlags,
  asking: Sending,
) {
  let made: Allocation | null = null
  const until = () => (made?.wait_until ? ` until ${localTime(made.wait_until)}` : '')
  const end = `end it with: ${wait.line(`allocation delete ${ident}`)}`
  const left = (isSure = false) =>
    `allocation ${ident} ${isSure ? 'goes on' : 'may still be'} waiting${until()}; ${end}`
  const asked: Asked = {
    what: `allocation ${ident}`,
    cancel: flags.keep ? null : signal => server.within(signal).allocations.delete(ident),
    isMade: () => made !== null,
    kept: () => `${left(made !== null)}; look with: ${wait.line(`allocation show ${ident}`)}`,
    left,
  }
  await interruptible(asked, async signal => {
    const terms = termsOf(wait, flags.waitUntil)
    const send = (each: AbortSignal, leftMs: number | null) =>
      asking.send(each, flags.waitUntil ?? (leftMs === null ? undefined : lasting(leftMs)))
    made = await answered({ send, find: asking.find }, { ...terms, signal, left })
    const isRemoved = asking.isNew && !flags.keep
    const other = terms.timeoutMs === null ? '--wait 10m waits for one' : ''
    const advice = isRemoved ? other : wait.line(`allocation retry ${made.name ?? ident}`)
    try {
      const ready = await waitFor(lookForNode(server, made.uuid, advice), { ...terms, signal, left })
      printAllocation(ready, flags)
    } catch (error) {
      throw error instanceof NoNode && isRemoved ? await withoutTrace(error, server, made.uuid, wait) : error
    }
  })
}

/** Removes what failed, also if the server is away for a moment. If it can't, the failure says how to. */
async function withoutTrace(failure: NoNode, server: Holdfast, uuid: string, wait: Wait): Promise<CommandFailure> {
  try {
    await cancelled(signal => ifThere(server.within(signal).allocations.delete(uuid)))
    return failure
  } catch {
    const end = `the allocation may still be there; remove it with: ${wait.line(`allocation delete ${uuid}`)}`
    return new CommandFailure(failure.exitCode, failure.message, [failure.hint, end].filter(Boolean).join('; '))
  }
}

/** If only one of --wait and --wait-until says a time, it is that of both. */
function termsOf({ timeoutMs, startedAt }: Wait, waitUntil: string | undefined) {
  if (waitUntil === undefined) return { timeoutMs, startedAt, graceMs: VERDICT_GRACE_MS }
  const isDuration = timeoutMs === null && !waitUntil.includes('-')
  return {
    timeoutMs: isDuration ? durationOf(waitUntil) : timeoutMs,
    startedAt,
    graceMs: isDuration ? VERDICT_GRACE_MS : 0,
  }
}

async function handedOver(allocations: Holdfast['allocations'], present: Allocation): Promise<Look<Allocation>> {
  try {
    return await lookAtHandOver(allocations, present)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    throw new NoNode(EXIT.conflict, error.message, 'its operator has to look at it; ask again for another one')
  }
}

/** Whether the allocation has a node, and can use it. If it fails, the error names the causes. */
export const lookForNode =
  (server: Holdfast, uuid: string, advice: string) =>
  async (signal: AbortSignal): Promise<Look<Allocation>> => {
    const { allocations } = server.within(signal)
    const present = await allocations.show(uuid)
    if (present.state === 'active') return handedOver(allocations, present)
    const { now, decided, ahead = 0, queue, state } = await allocations.explain(uuid)
    if (present.state === 'error') {
      const reasons = decided ?? now
      const look = reasons.considered === 0 ? 'holdfast status shows which machines you may see' : null
      const hint = [look, relaxationIn(reasons), advice].filter(Boolean).join('; ')
      const why = `${present.name ?? 'it'} got no node: ${causeIn(present.last_error ?? 'it failed')}`
      // One that may wait fails only when its time is over.
      const over = present.wait_until === null ? '' : `its time to wait ended at ${localTime(present.wait_until)}: `
      throw new NoNode(EXIT.conflict, `${over}${why}`, hint)
    }
    // What changes while one waits stands where a narrow terminal shows it.
    const line = [queue && placeWords(queue, now.at), causesIn(now)].filter(Boolean).join('; ')
    // A node is free for it, so that a conductor is about to take it up; or one has, since we looked.
    const isBrief = now.available > ahead || state !== present.state
    return { waitingFor: `waiting for a node: ${line}`, isBrief }
  }
