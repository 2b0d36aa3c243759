// What is wrong with a fleet file, and where.

/** The way to a value in a document: names of members, and places in lists. */
export type Path = readonly (string | number)[]

export interface Place {
  file: string
  /** null where lines are not known. */
  line: number | null
  path: Path
}

export interface Mistake {
  place: Place
  says: string
  /** The file is fine in itself: it is the server that has something else. */
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

/** By file, and from top to bottom. */
export function inOrder(mistakes: readonly Mistake[], files: readonly string[]): Mistake[] {
  const rank = ({ place }: Mistake) => files.indexOf(place.file)
  return mistakes.toSorted((a, b) => rank(a) - rank(b) || (a.place.line ?? 0) - (b.place.line ?? 0))
}
