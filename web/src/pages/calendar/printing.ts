// Whether the page is being printed. Then all rows are in it, and the chart is as wide as a sheet on its side.
import { type Accessor, createSignal, onCleanup } from 'solid-js'

/** Pixels for the time, on a sheet of A4 or letter on its side. */
export const PRINTED_PX = 820

export function createPrinting(): Accessor<boolean> {
  const media = matchMedia('print')
  const [isPrinting, setIsPrinting] = createSignal(media.matches)
  const look = () => setIsPrinting(media.matches)
  const start = () => setIsPrinting(true)
  const end = () => setIsPrinting(false)
  media.addEventListener('change', look)
  addEventListener('beforeprint', start)
  addEventListener('afterprint', end)
  onCleanup(() => {
    media.removeEventListener('change', look)
    removeEventListener('beforeprint', start)
    removeEventListener('afterprint', end)
  })
  return isPrinting
}
