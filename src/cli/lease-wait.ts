// Books a lease, waits until it has started, and takes it back on Ctrl-C.
import type { Holdfast, Lease, NewLease } from '../client/index.ts'
import { systemClock } from '../clock/clock.ts'
import type { Look } from '../client/waiting.ts'
import { ifThere } from '../client/asking.ts'
import { answered, waitFor } from './progress.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { type Asked, interruptible } from './interrupt.ts'
import { isForPeople, sheetFor } from './lease-words.ts'
import { type OutputFlags, printOne } from './output.ts'
import type { KeepFlags, Wait } from './wait-flags.ts'

export async function printWhenStarted(
  server: Holdfast,
  wanted: NewLease,
  wait: Wait,
  flags: OutputFlags & KeepFlags,
  make: (on: Holdfast, wanted: NewLease) => Promise<Lease>,
) {
  // Chosen by us, so that we can ask for the lease and end it even if the answer is lost.
  const id = systemClock.newUuid()
  let made: Lease | null = null
  const what = `lease ${wanted.name} (${id})`
  const end = `end it with: ${wait.line(`lease delete ${id}`)}`
  const left = () => `${what} ${made ? 'is' : 'may be'} booked until ${made?.end_date ?? wanted.end_date}; ${end}`
  const asked: Asked = {
    what,
    cancel: flags.keep ? null : signal => server.within(signal).leases.delete(id),
    isMade: () => made !== null,
    kept: () => `${left()}; look with: ${wait.line(`lease show ${id}`)}`,
    left,
  }
  const { timeoutMs, startedAt } = wait
  await interruptible(asked, async signal => {
    const options = { timeoutMs, startedAt, signal, left }
    const send = (each: AbortSignal) => make(server.within(each), { ...wanted, id })
    const find = (each: AbortSignal) => ifThere(server.within(each).leases.show(id))
    made = await answered({ send, find }, options)
    // An older server chooses the id itself.
    const { id: given } = made
    const started = await waitFor(async each => lookAt(await server.within(each).leases.show(given)), options)
    printOne(isForPeople(flags) ? sheetFor(started) : started, flags)
  })
}

function lookAt(lease: Lease): Look<Lease> {
  const { name, status, start_date, status_reason } = lease
  if (status === 'ACTIVE') return { done: lease }
  if (status === 'PENDING') return { waitingFor: `waiting for lease ${name} to start at ${start_date}` }
  const why = status_reason === undefined ? '' : `: ${status_reason}`
  if (status === 'STARTING') return { waitingFor: `waiting for lease ${name} to start${why}` }
  throw new CommandFailure(EXIT.failed, `lease ${name} is ${status}, not ACTIVE${why}`)
}
