// Everything of a machine that people search for, on every page that searches.
import type { Machine } from '../../../src/client/status.ts'

const texts = new WeakMap<Machine, string>()

/** In small letters, a line for each thing. Made once for each row that the server sent. */
export function textOf(machine: Machine, traits: readonly string[]): string {
  const known = texts.get(machine)
  if (known !== undefined) return known
  const { name, uuid, rack, who, project, owner, lessee, what, purpose, note, reason, error, next } = machine
  const words = [name, uuid, machine.class, rack, who, project, owner, lessee, what, purpose, note, reason, error]
  const more = [machine.state, machine.provision, next?.name, next?.who, ...addressesOf(machine)]
  const text = [...words, ...more, ...machine.traits.map(place => traits[place])]
    .filter(word => word !== null && word !== undefined)
    .join('\n')
    .toLowerCase()
  texts.set(machine, text)
  return text
}

/** The MACs and the address of the BMC, where the viewer may see them. */
const addressesOf = (machine: Machine & { addresses?: readonly string[] }): readonly string[] => machine.addresses ?? []
