// One attempt at a time at what a sheet is for: it closes the sheet, or its refusal is shown there.
import { createSignal, onCleanup } from 'solid-js'
import { reasonOf } from '../data/doing.ts'

interface Attempted {
  /** True closes the sheet. What it throws is shown. */
  act: () => Promise<boolean>
  close: () => void
}

export function createAttempt(sheet: Attempted) {
  const [isBusy, setIsBusy] = createSignal(false)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  // Whoever closes it meanwhile may have opened another.
  let isThere = true
  onCleanup(() => (isThere = false))
  const attempt = async () => {
    if (isBusy()) return
    const pressed = document.activeElement
    setIsBusy(true)
    setRefusal(null)
    try {
      if ((await sheet.act()) && isThere) sheet.close()
    } catch (error) {
      setRefusal(reasonOf(error))
    } finally {
      setIsBusy(false)
      // A button that was disabled for the while has lost the focus.
      if (document.activeElement === document.body && pressed instanceof HTMLElement) pressed.focus()
    }
  }
  return { isBusy, refusal, attempt }
}
