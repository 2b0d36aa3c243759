// The time for Last-Modified.

interface Dated {
  created_at: number
  updated_at?: number | null
}

/** The newest change of any row, or `otherwise` when there are no rows. */
export function newest(shown: readonly Dated[], otherwise: number): number {
  let latest = -Infinity
  for (const { created_at, updated_at } of shown) latest = Math.max(latest, updated_at ?? created_at)
  return shown.length > 0 ? latest : otherwise
}
