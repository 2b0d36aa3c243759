// A mistake in a fleet file, and its place.

/** The path to a value in a document: names of members and indexes in lists. */
export type Path = readonly (string | number)[]

/** Where a value begins. In a table the column has a name. */
export interface Spot {
  line: number
  column: number | string
}

export interface Place {
  file: string
  /** null if unknown. */
  spot: Spot | null
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

export const fileAndLine = ({ file, spot }: Place) => (spot === null ? file : `${file}:${spot.line}`)

/** As in `nodes[3].ports[0].address`. */
const pathText = (path: Path) =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('')

/** As compilers do: `fleet.yaml:4:7: nodes[0].name: …`. In a table the column's name says more than a path. */
export function mistakeText({ place, says }: Mistake): string {
  const column = place.spot?.column
  if (typeof column === 'string') {
    const named = column === '' ? [] : [`column ${column}`]
    return [fileAndLine(place), ...named, says].join(': ')
  }
  const where = column === undefined ? fileAndLine(place) : `${fileAndLine(place)}:${column}`
  return [where, ...(place.path.length > 0 ? [pathText(place.path)] : []), says].join(': ')
}

/** Sorted by file, then by line. Within a line they stay as they were found. */
export function inOrder(mistakes: readonly Mistake[], files: readonly string[]): Mistake[] {
  const rank = ({ place }: Mistake) => files.indexOf(place.file)
  return mistakes.toSorted((a, b) => rank(a) - rank(b) || (a.place.spot?.line ?? 0) - (b.place.spot?.line ?? 0))
}
