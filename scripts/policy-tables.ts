// Writes the tables of docs/POLICY.md from the code: node scripts/policy-tables.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { baremetalPolicy } from '../src/api/baremetal/policy.ts'
import { computePolicy } from '../src/api/compute/policy.ts'
import { identityPolicy } from '../src/api/identity/policy.ts'
import { operatorPolicy } from '../src/api/operator/policy.ts'
import { placementPolicies } from '../src/api/placement/policy.ts'
import { reservationPolicy } from '../src/api/reservation/policy.ts'
import { RULES } from '../src/identity/policy.ts'

export const PAGE = new URL('../docs/POLICY.md', import.meta.url)

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')

const rulesOf = (policy: Readonly<Record<string, string>>) =>
  table(
    ['action', 'who may'],
    Object.entries(policy).map(([action, rule]) => [`\`${action}\``, rule]),
  )

const TABLES: Record<string, string> = {
  rules: table(
    ['rule', 'holds for'],
    Object.entries(RULES).map(([name, { says }]) => [`\`${name}\``, says]),
  ),
  placement: rulesOf(placementPolicies.secure),
  baremetal: rulesOf(baremetalPolicy),
  reservation: rulesOf(reservationPolicy),
  compute: rulesOf(computePolicy),
  identity: rulesOf(identityPolicy),
  operator: rulesOf(operatorPolicy),
}

/** The page, with its tables generated from the code. */
export function withTables(page: string): string {
  return page.replaceAll(/<!-- (\w+) -->\n[^]*?<!-- end -->/g, (whole, name: string) =>
    TABLES[name] ? `<!-- ${name} -->\n\n${TABLES[name]}\n\n<!-- end -->` : whole,
  )
}

if (import.meta.main) writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8')))
