// Scalars in JSON that others have written.
type Scalar = string | number | boolean

export const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value)

/** The number that a scalar reads as. NaN for anything else, and for blank text, which Number() would call 0. */
export function numberIn(value: unknown): number {
  return isScalar(value) && String(value).trim() !== '' ? Number(value) : NaN
}
