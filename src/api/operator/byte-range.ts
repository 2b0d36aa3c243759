// The part of a resource that a Range header asks for.

/** The first and the last byte. */
interface Part {
  from: number
  to: number
}

/** Null: all of it, also when the header is of a kind that may be ignored. `outside`: there are no such bytes. */
export function partOf(header: string | null, length: number): Part | 'outside' | null {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return null
  if (first === '') {
    const count = Math.min(Number(last), length)
    return count === 0 ? 'outside' : { from: length - count, to: length - 1 }
  }
  const from = Number(first)
  if (last !== '' && Number(last) < from) return null
  return from >= length ? 'outside' : { from, to: last === '' ? length - 1 : Math.min(Number(last), length - 1) }
}
