// Opens the sheets in which machines are booked or asked for. Kept apart from the sheets, which load when first opened.
import { createSignal } from 'solid-js'
import type { Draft } from '../../data/booking-draft.ts'
import { forNext } from '../../data/session.ts'

interface BookingWanted {
  /** Uuids. */
  machines?: readonly string[]
  class?: string
  start?: number
  end?: number
}

const [bookingAsked, setBookingAsked] = createSignal<Partial<Draft> | null>(null)
export { bookingAsked }

/** Opens the sheet in which a booking is composed. */
export const openBooking = (wanted: BookingWanted = {}): void => void setBookingAsked({ ...wanted })
export const closeBooking = (): void => void setBookingAsked(null)

export interface GetWanted {
  class?: string
  traits?: readonly string[]
  /** Uuids of the only machines that will do. */
  machines?: readonly string[]
}

const [getAsked, setGetAsked] = createSignal<GetWanted | null>(null)
export { getAsked }

/** Opens the sheet in which machines are asked for, to be had at once. */
export const openGet = (wanted: GetWanted = {}): void => void setGetAsked({ ...wanted })
export const closeGet = (): void => void setGetAsked(null)

forNext(() => {
  closeBooking()
  closeGet()
})
