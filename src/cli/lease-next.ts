// lease create --next: the first time at which a lease fits.
import { type Holdfast, type Lease, type LeaseRefusal, type NewLease, NoFit } from '../client/index.ts'
import { dateText, timeOf } from './lease-terms.ts'
import { doesNotFit, refusalIn, windowIn } from './lease-words.ts'
import { tell } from './output.ts'

/** How often someone else may be faster. Each time one of them has booked, so of many at once most get through sooner. */
const TRIES_MAX = 20

type Window = LeaseRefusal['windows'][number]

/** The same lease from the start of the window, with its reminder as long before the end. */
export function startingAt(wanted: NewLease, { start_date, end_date }: Window): NewLease {
  const { before_end_date } = wanted
  if (before_end_date === undefined) return { ...wanted, start_date, end_date }
  const before = timeOf(wanted.end_date) - timeOf(before_end_date)
  return { ...wanted, start_date, end_date, before_end_date: dateText(timeOf(end_date) - before) }
}

/** Each try is a booking of its own, so two at once never get the same. */
export async function createNext({ leases }: Holdfast, wanted: NewLease): Promise<Lease> {
  let tried = wanted
  for (let tries = 1; ; tries++) {
    try {
      const made = await leases.create(tried)
      if (tries > 1) tell(`booked from ${windowIn({ ...made, last_start_date: made.start_date })}`)
      return made
    } catch (error) {
      const refusal = error instanceof NoFit ? refusalIn(error) : null
      if (refusal === null) throw error
      // A refusal looks for windows for a short while, an explanation longer.
      const [first] = refusal.windows.length > 0 ? refusal.windows : (await leases.explain(tried)).windows
      if (!first || tries === TRIES_MAX) throw doesNotFit(refusal, wanted)
      tried = startingAt(wanted, first)
    }
  }
}
