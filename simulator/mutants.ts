// All mutants: deliberate bugs that the simulator must find, each within its number of seeds.
import { claimMutants } from './mutants/claims.ts'
import { conductorMutants } from './mutants/conductors.ts'
import { leaseMutants } from './mutants/leases.ts'
import { memoryMutants } from './mutants/memory.ts'
import type { Mutant } from './mutants/mutant.ts'
import { promiseMutants } from './mutants/promises.ts'
import { storeMutants } from './mutants/store.ts'
import { tellingMutants } from './mutants/telling.ts'

export const MUTANTS: readonly Mutant[] = [
  ...storeMutants,
  ...claimMutants,
  ...memoryMutants,
  ...conductorMutants,
  ...promiseMutants,
  ...leaseMutants,
  ...tellingMutants,
]

export function mutantNamed(name: string): Mutant {
  const found = MUTANTS.find(mutant => mutant.name === name)
  if (!found) throw new Error(`there is no mutant '${name}'; there are ${MUTANTS.map(one => one.name).join(', ')}`)
  return found
}
