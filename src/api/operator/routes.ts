// What those who run Holdfast can ask below /holdfast/v1: who answers, and under which permission.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { checkEverything } from '../../fsck.ts'
import { listEntries } from './audit.ts'
import { explainCandidates } from './explain.ts'
import type { OperatorAction } from './policy.ts'

export interface Route {
  handle: (context: Context, request: FastifyRequest) => Promise<object>
  action: OperatorAction
}

type Method = 'GET' | 'POST'

export const routes: Record<string, Partial<Record<Method, Route>>> = {
  '/fsck': { GET: { handle: showFsck, action: 'holdfast:fsck' } },
  '/audit': { GET: { handle: listEntries, action: 'holdfast:audit:list' } },
  '/explain/allocation_candidates': {
    GET: { handle: explainCandidates, action: 'holdfast:explain:allocation_candidates' },
  },
}

async function showFsck({ store }: Context): Promise<object> {
  const findings = await checkEverything(store)
  return { violations: findings.reduce((sum, { violations }) => sum + violations, 0), invariants: findings }
}
