// Why a candidate query finds nothing, and what would.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { ANYONE } from '../../identity/caller.ts'
import { explain } from '../../ledger/candidates/explain.ts'
import { limits } from '../../limits.ts'
import { inTurns } from '../../turns.ts'
import { requireKnown } from '../placement/allocation-candidates.ts'
import { parseCandidateQuery } from '../placement/candidate-query.ts'
import { candidateQueryOf } from '../placement/candidate-query-text.ts'
import { PlacementRequest } from '../placement/request.ts'
import { negotiate } from '../placement/versions.ts'

const BUDGET = { workMax: limits.explainStepsMax, breathEvery: limits.searchStepsPerTurn }

/** The same query as for /allocation_candidates, read as its newest version unless a header says otherwise. */
export async function explainCandidates(context: Context, raw: FastifyRequest): Promise<object> {
  const version = negotiate(raw.headers['openstack-api-version'] ?? 'placement latest')
  const request = new PlacementRequest(context, ANYONE, version, raw)
  const wanted = parseCandidateQuery(request)
  await requireKnown(request, wanted)
  const { roots, groups, together, relaxations, exhausted } = await inTurns(
    explain(context.mirror.table, wanted, BUDGET),
  )
  return {
    query: candidateQueryOf(wanted),
    roots,
    groups,
    together,
    relaxations: relaxations.map(relaxation => ({
      sentence: relaxation.sentence,
      roots: relaxation.roots,
      query: candidateQueryOf(relaxation.request),
    })),
    complete: !exhausted,
  }
}
