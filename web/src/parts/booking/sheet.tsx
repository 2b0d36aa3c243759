// Book from anywhere: the same sentence in a sheet. The shell shows it; any page opens it.
import { type Component, createSignal, onCleanup, onMount, Show } from 'solid-js'
import type { Draft } from '../../data/booking-draft.ts'
import { draft, dropDraft, startDraft } from '../../data/draft.ts'
import { words } from '../../words.ts'
import { Sheet } from '../sheet.tsx'
import { BookingForm } from './form.tsx'
import { RefusalBox } from './refusal-box.tsx'
import { bookingAsked, closeBooking } from './open.ts'
import { useShowBooking } from './show.ts'

const BookingSheet: Component = () => <Show when={bookingAsked()}>{asked => <Open asked={asked()} />}</Show>

const Open: Component<{ asked: Partial<Draft> }> = props => {
  const show = useShowBooking()
  const [isReady, setIsReady] = createSignal(false)
  onMount(() => {
    startDraft(props.asked)
    setIsReady(true)
  })
  onCleanup(() => draft() !== null && dropDraft())
  return (
    <Sheet title={words.booking.sheetTitle} close={closeBooking}>
      <Show when={isReady()}>
        <div class="bk-sheet">
          <BookingForm isStacked show={show} done={closeBooking} />
          <RefusalBox isInSheet />
        </div>
      </Show>
    </Sheet>
  )
}

export default BookingSheet
