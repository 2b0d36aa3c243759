// How the refusal of a lease that doesn't fit is shown: its reasons, and when the lease would fit.
import type { Refusal, RefusalSample } from '../../problems/leases.ts'
import { Count, named, orNull, Text } from '../shapes.ts'
import { ShownDate, shownDate } from './dates.ts'
import { Type } from '../../shared/type.ts'

const DateOrNull = orNull(ShownDate)

export const REFUSAL_MEMBERS = {
  reasons: Type.Array(
    named('LeaseReason', {
      reservation: Count,
      reason: Text,
      count: Count,
      sample: Type.Array(
        named('LeaseObstacle', {
          host: Text,
          name: Text,
          detail: Text,
          from: DateOrNull,
          until: DateOrNull,
          lease: orNull(Type.Object({ id: Text, name: Text, project_id: Text, user_id: Text })),
        }),
      ),
    }),
  ),
  windows: Type.Array(
    named('LeaseWindow', {
      start_date: ShownDate,
      end_date: ShownDate,
      // It may start at any time until then. Null: at any later time, as far as is known.
      last_start_date: DateOrNull,
    }),
  ),
  // The latest end with which it would fit from the start that was asked for.
  until_date: DateOrNull,
  // For each reservation by itself: how many there are then, and how many it needs.
  most: Type.Array(Type.Object({ count: Count, of: Count })),
}

const dateOrNull = (time: number | null) => (time === null ? null : shownDate(time))

const shownSample = (sample: RefusalSample) => ({
  ...sample,
  from: dateOrNull(sample.from),
  until: dateOrNull(sample.until),
})

export const shownRefusal = ({ reasons, windows, until_at, most }: Refusal) => ({
  reasons: reasons.map(reason => ({ ...reason, sample: reason.sample.map(shownSample) })),
  windows: windows.map(({ start_at, end_at, last_start_at }) => ({
    start_date: shownDate(start_at),
    end_date: shownDate(end_at),
    last_start_date: dateOrNull(last_start_at),
  })),
  until_date: dateOrNull(until_at),
  most,
})
