// The policy: all actions of all APIs with their rules, some replaced by the rules of the operator's file.
import { readFileSync } from 'node:fs'
import { UsageError } from '../shared/usage-error.ts'
import { yaml } from '../shared/yaml.ts'
import { Policy, PolicyError } from '../identity/policy.ts'
import { type BaremetalAction, baremetalPolicy } from './baremetal/policy.ts'
import { type ComputeAction, computePolicy } from './compute/policy.ts'
import { type IdentityAction, identityPolicy } from './identity/policy.ts'
import { type OperatorAction, operatorPolicy } from './operator/policy.ts'
import { type PlacementAction, placementPolicies, type PolicyName } from './placement/policy.ts'
import { type ReservationAction, reservationPolicy } from './reservation/policy.ts'

export type Action =
  | PlacementAction
  | BaremetalAction
  | ReservationAction
  | ComputeAction
  | IdentityAction
  | OperatorAction

export const tableOf = (placement: PolicyName): Readonly<Record<Action, string>> => ({
  ...placementPolicies[placement],
  ...baremetalPolicy,
  ...reservationPolicy,
  ...computePolicy,
  ...identityPolicy,
  ...operatorPolicy,
})

interface PolicySettings {
  readonly placementPolicy: PolicyName
  readonly policyFile: string | null
}

export function loadPolicy({ placementPolicy, policyFile }: PolicySettings) {
  try {
    return new Policy<Action>(tableOf(placementPolicy), policyFile === null ? {} : rulesIn(policyFile))
  } catch (error) {
    if (error instanceof PolicyError) throw new UsageError(`${policyFile}: ${error.message}`, { cause: error })
    throw error
  }
}

function rulesIn(file: string): Record<string, unknown> {
  let content: unknown
  try {
    content = yaml().parse(readFileSync(file, 'utf8')) ?? {}
  } catch (error) {
    throw new UsageError(`can't read the policy file ${file}: ${(error as Error).message}`, { cause: error })
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new UsageError(`the policy file ${file} must hold rules as "action: rule" lines`)
  }
  return content as Record<string, unknown>
}
