// What this browser remembers of its viewer's taste. Nothing that matters: it may be refused, or lost.
const PREFIX = 'holdfast-'

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    return null
  }
}

export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, value)
  } catch {
    // A browser that keeps nothing still shows all.
  }
}
