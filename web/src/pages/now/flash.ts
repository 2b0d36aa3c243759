// Shows that something has just changed, for a moment.

/** Marks what is drawn of these. All marks are taken away first, so that the browser lays the page out only once. */
export function flash(box: Element, ids: ReadonlySet<string>): void {
  const found = [...ids].flatMap(id => [...box.querySelectorAll<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)])
  if (found.length === 0) return
  for (const element of found) element.classList.remove('flash')
  void found[0]!.offsetWidth
  for (const element of found) {
    element.classList.add('flash')
    element.addEventListener('animationend', () => element.classList.remove('flash'), { once: true })
  }
}
