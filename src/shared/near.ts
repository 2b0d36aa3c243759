// Finds the word that was probably meant: one letter more, less, other or swapped, or two in longer words.

const LONG = 6

/** The nearest of the words, if it is near enough to be meant. */
export function nearest(given: string, words: Iterable<string>): string | null {
  let [best, least] = [null as string | null, given.length < LONG ? 1 : 2]
  for (const word of words) {
    const far = distance(given.toLowerCase(), word, least)
    if (far <= least) [best, least] = [word, far - 1]
  }
  return best
}

/** Letters to add, drop, replace or swap with the next one; more than `most` may come out as anything above it. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      row[j] = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwapped) row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
