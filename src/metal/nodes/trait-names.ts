// Which names can be traits of a node: those of os-traits, and custom ones.
import { standardTraits } from '../../ledger/standard.ts'

const standard = new Set(standardTraits)
const CUSTOM = /^CUSTOM_[A-Z0-9_]+$/

/** The width of Placement's column. */
export const TRAIT_CHARS_MAX = 255

export function isTraitName(name: string): boolean {
  return name.length >= 1 && name.length <= TRAIT_CHARS_MAX && (standard.has(name) || CUSTOM.test(name))
}

/** Whether a name with these parts in this order, and anything between them, can be a trait. */
export function mayBeTrait(parts: readonly string[]): boolean {
  if (!parts.every(part => /^[A-Z0-9_]*$/.test(part))) return false
  const pattern = new RegExp(`^${parts.join('[A-Z0-9_]+')}$`)
  return isTraitName(parts.join('X')) || standardTraits.some(name => pattern.test(name))
}
