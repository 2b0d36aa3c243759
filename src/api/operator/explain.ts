// /explain/allocation_candidates: why a candidate query finds nothing, and which query would find something.
import { explain } from '../../ledger/candidates/explain.ts'
import { limits } from '../../shared/limits.ts'
import { runYielding } from '../../shared/yielding.ts'
import type { Operation } from '../operation.ts'
import { requireKnown } from '../placement/allocation-candidates.ts'
import { candidateQueryOf } from '../placement/candidate-query-text.ts'
import { candidateQueries, parseCandidateQuery } from '../placement/candidate-query.ts'
import { placement } from '../placement/dialect.ts'
import { negotiate, VERSION_HEADER } from '../placement/versions.ts'
import { Count, Flag, named, Text, TextOrNull } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const BUDGET = { workMax: limits.explainStepsMax, breathEvery: limits.searchStepsPerTurn }

const Explained = named('CandidatesExplained', {
  query: Text,
  roots: Count,
  groups: Type.Array(
    named('Funnel', {
      suffix: Text,
      resourceClass: TextOrNull,
      providers: Count,
      steps: Type.Array(Type.Object({ condition: Text, left: Count })),
      removedBy: TextOrNull,
      nearest: Type.Array(Type.Object({ uuid: Text, name: Text, lacks: Type.Array(Text) })),
    }),
  ),
  together: Type.Array(Type.Object({ condition: Text, roots: Count })),
  relaxations: Type.Array(named('QueryRelaxation', { sentence: Text, roots: Count, query: Text })),
  complete: Flag,
})

explainCandidates.operation = {
  summary: 'Say why a request for allocation candidates finds nothing, and what would',
  query: candidateQueries,
  answers: { 200: Explained },
} satisfies Operation

/** The same query as for /allocation_candidates, read as its newest version unless a header says otherwise. */
export async function explainCandidates(asked: OperatorRequest): Promise<Answer> {
  const version = negotiate(asked.raw.headers[VERSION_HEADER] ?? 'placement latest')
  const request = asked.as(placement, version)
  const wanted = parseCandidateQuery(request)
  await requireKnown(request, wanted)
  const { roots, groups, together, relaxations, exhausted } = await runYielding(
    explain(asked.context.mirror.table, wanted, BUDGET),
  )
  const body = {
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
  return { status: 200, body }
}
