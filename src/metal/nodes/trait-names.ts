// Which names can be traits of a node: those of os-traits, and custom ones.
import { standardTraits } from '../../ledger/standard.ts'

const standard = new Set(standardTraits)
const CUSTOM = /^CUSTOM_[A-Z0-9_]+$/

export function isTraitName(name: string): boolean {
  return name.length >= 1 && name.length <= 255 && (standard.has(name) || CUSTOM.test(name))
}
