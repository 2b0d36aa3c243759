// After an upgrade the server's files have other names, so a page that was loaded before must be loaded anew to go on.
import { createEffect, createSignal, on, onCleanup } from 'solid-js'
import { liveness } from './live.ts'

const [isNewer, setIsNewer] = createSignal(false)
/** Whether the server has another dashboard than the one that is shown. */
export { isNewer }

/** Looks whenever the server was away, and when it doesn't have what is to be shown next. */
export function useNewer(): void {
  createEffect(
    on(
      () => liveness().state,
      (state, before) => {
        if (state === 'live' && before === 'lost') void look()
      },
    ),
  )
  // If the server is only away, loading anew would show nothing at all.
  const missed = () => void look().then(found => found && location.reload())
  globalThis.addEventListener('vite:preloadError', missed)
  onCleanup(() => globalThis.removeEventListener('vite:preloadError', missed))
}

/** Our script has a hash in its name, and the server's page names its own. */
async function look(): Promise<boolean> {
  const own = document.querySelector('script[type=module]')?.getAttribute('src') ?? ''
  try {
    const answer = await fetch('/ui/', { cache: 'no-cache' })
    if (answer.ok) setIsNewer(!(await answer.text()).includes(`"${own}"`))
  } catch {
    // It is away again; there will be another look.
  }
  return isNewer()
}
