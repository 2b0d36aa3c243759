// Loaded before anything else, in each process of a trial: applies its mutant.
import { applyMutant } from '../../simulator/mutate.ts'

const mutant = process.env['HOLDFAST_MUTANT']
if (mutant) applyMutant(JSON.parse(mutant))
