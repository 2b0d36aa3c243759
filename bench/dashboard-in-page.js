// What the dashboard bench runs in the page, before the page's own scripts. No TypeScript: it is no part of our programs.

const MACHINE = 'main a[href*="/ui/machine/"]'
const ANY = { attributes: true, childList: true, characterData: true, subtree: true }

const usable = Promise.withResolvers()
const watch = new MutationObserver(() => {
  if (document.querySelector(MACHINE) === null) return
  watch.disconnect()
  // Painted, and the thread is free for a click.
  requestAnimationFrame(() => setTimeout(() => usable.resolve(performance.now())))
})
watch.observe(document, ANY)

globalThis.bench = {
  /** Milliseconds from the start of the page until the first machine is there. */
  usable: () => usable.promise,

  /** The milliseconds between any two frames, while the page stands still, is scrolled up and down, or jumps. */
  frames({ ms, motion, stepPx }) {
    const { promise, resolve } = Promise.withResolvers()
    const took = []
    const began = performance.now()
    let [last, step, frames] = [began, stepPx, 0]
    const move = () => {
      const [before, lowest] = [scrollY, document.documentElement.scrollHeight - innerHeight]
      // A jump every third of a second, to places all over the page.
      if (motion === 'jump' && frames % 20 === 0) scrollTo({ top: (lowest * ((frames * 7) % 100)) / 100 })
      if (motion !== 'scroll') return
      scrollBy({ top: step })
      if (scrollY === before) step = -step
    }
    const frame = () => {
      const now = performance.now()
      if (frames++ > 0) took.push(now - last)
      last = now
      move()
      if (now - began < ms) requestAnimationFrame(frame)
      else resolve(took)
    }
    requestAnimationFrame(frame)
    return promise
  },

  /** When this machine is first shown in maintenance, or out of it. */
  shownAt({ name, inMaintenance }) {
    const { promise, resolve } = Promise.withResolvers()
    const said = () => {
      const link = document.querySelector(`main a[href*="/ui/machine/${name}"]`)
      return `${link?.getAttribute('aria-label')} ${link?.closest('tr, [role=row], li')?.textContent}`
    }
    const look = () => {
      if (said().includes('maintenance') !== inMaintenance) return
      change.disconnect()
      requestAnimationFrame(() => resolve(Date.now()))
    }
    const change = new MutationObserver(look)
    change.observe(document, ANY)
    look()
    return promise
  },
}
