// A mistake in a fleet file, and its place.

/** The path to a value in a document: names of members and indexes in lists. */
export type Path = readonly (string | number)[]

export interface Place {
  file: string
  /** null if unknown, as in JSON. */
  line: number | null
  path: Path
}

export interface Mistake {
  place: Place
  says: string
  /** The file is valid, but contradicts what the server has. */
  isClash: boolean
}

export const mistake = (place: Place, says: string): Mistake => ({ place, says, isClash: false })
export const clash = (place: Place, says: string): Mistake => ({ place, says, isClash: true })

export const fileAndLine = ({ file, line }: Place) => (line === null ? file : `${file}:${line}`)

/** As in `nodes[3].ports[0].address`. */
const pathText = (path: Path) =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('')

export const mistakeText = ({ place, says }: Mistake) =>
  [fileAndLine(place), ...(place.path.length > 0 ? [pathText(place.path)] : []), says].join(': ')

/** Sorted by file, then by line. */
export function inOrder(mistakes: readonly Mistake[], files: readonly string[]): Mistake[] {
  const rank = ({ place }: Mistake) => files.indexOf(place.file)
  return mistakes.toSorted((a, b) => rank(a) - rank(b) || (a.place.line ?? 0) - (b.place.line ?? 0))
}
