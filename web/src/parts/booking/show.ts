// Where a booking is seen.
import { useLocation, useNavigate } from '@solidjs/router'
import type { Draft } from '../../data/booking-draft.ts'
import { zone } from '../../data/clock.ts'

/** Shows the calendar from the day on which it starts. */
export function useShowBooking(): (made: Draft) => void {
  const navigate = useNavigate()
  const location = useLocation()
  return ({ start }) => {
    const day = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zone()).toPlainDate().toString()
    const query = new URLSearchParams(location.pathname.endsWith('/calendar') ? location.search : '')
    query.set('from', day)
    navigate(`/calendar?${query.toString()}`)
  }
}
