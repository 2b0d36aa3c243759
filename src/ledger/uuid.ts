// UUIDs as OpenStack reads them: capitals, missing dashes, braces and a urn prefix are forgiven.

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const HEX = /^[0-9a-f]{32}$/

/** Aggregates are kept as they were sent, and are the same however they are spelled. */
export const aggregateKey = (text: string): string => canonicalUuid(text) ?? text

/** The dashed lower-case form, or null when it is no UUID. */
export function canonicalUuid(text: string): string | null {
  if (CANONICAL.test(text)) return text
  const hex = text.toLowerCase().replace('urn:', '').replace('uuid:', '').replace(/[{}]/g, '').replaceAll('-', '')
  if (!HEX.test(hex)) return null
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
