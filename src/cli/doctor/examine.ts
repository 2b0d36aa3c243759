// Runs checks in order. A check is skipped unless all that it needs passed: it would only repeat the fault.
import { ApiError } from '../../client/index.ts'
import { verdictOn } from '../failures.ts'

/** `unknown`: the check could not be made. */
export type Grade = 'ok' | 'warning' | 'wrong' | 'unknown'

export interface Finding {
  grade: Grade
  /** What was checked, and what was found. */
  found: string
  /** What to do about it. */
  hint: string | null
}

export const ok = (found: string): Finding => ({ grade: 'ok', found, hint: null })
export const warning = (found: string, hint: string): Finding => ({ grade: 'warning', found, hint })
export const wrong = (found: string, hint: string | null): Finding => ({ grade: 'wrong', found, hint })
export const unknown = (found: string): Finding => ({ grade: 'unknown', found, hint: null })

export interface Check<Patient> {
  name: string
  /** Names of earlier checks that must have passed. */
  needs?: readonly string[]
  /** Whether the check applies. One that doesn't counts as passed. */
  when?: (patient: Patient) => boolean
  look: (patient: Patient) => Promise<Finding>
}

export type Result = Finding & { check: string }

export async function* examine<Patient>(checks: readonly Check<Patient>[], patient: Patient): AsyncGenerator<Result> {
  const met = new Set<string>()
  for (const { name, needs = [], when, look } of checks) {
    if (!needs.every(need => met.has(need))) continue
    if (when && !when(patient)) {
      met.add(name)
      continue
    }
    const finding = await look(patient).catch(findingOf)
    if (finding.grade === 'ok' || finding.grade === 'warning') met.add(name)
    yield { check: name, ...finding }
  }
}

/** The finding for a check that threw. */
function findingOf(error: unknown): Finding {
  if (error instanceof ApiError && error.status === 403) return unknown(`not for this user: ${error.message}`)
  const verdict = verdictOn(error)
  if (verdict) return wrong(verdict.message, verdict.hint)
  return wrong((error as Error).message.split('\n', 1)[0]!, null)
}
