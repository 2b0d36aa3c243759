// New ids. Those of the browser itself are only there on pages that came encrypted or from this computer.
import { plainClock } from '../../../src/clock/plain.ts'

/** Of random bits, as RFC 9562 has them in version 4. */
export function newUuid(): string {
  const hex = plainClock.newSecret(16)
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)]
  return parts.join('-')
}
