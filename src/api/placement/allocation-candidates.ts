// /allocation_candidates
import { Pieces } from '../../http/pieces.ts'
import { answerYielding, type AnswerWords, shortAnswer } from '../../ledger/candidates/answer.ts'
import type { CandidateRequest } from '../../ledger/candidates/request.ts'
import { search, type SearchResult } from '../../ledger/candidates/search.ts'
import type { CandidateTable } from '../../ledger/candidates/table.ts'
import { customNames, requireNames } from '../../ledger/known-names.ts'
import { limits } from '../../shared/limits.ts'
import { runYielding } from '../../shared/yielding.ts'
import type { Operation } from '../operation.ts'
import { byName, Count, from, named, orNull, Text, Uuid } from '../shapes.ts'
import { candidateQueries, parseCandidateQuery } from './candidate-query.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { type Has, since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const SEARCH_BUDGET = {
  workMax: limits.searchStepsMax,
  breathEvery: limits.searchStepsPerTurn,
  picksMax: limits.searchPicksMax,
}

/** Shorter answers are sent as text: Node writes text together with the headers, but not a buffer. All is ASCII. */
const TEXT_BYTES_MAX = 64 * 1024

const Resources = byName(Count)
const Candidates = from(
  since('keyedAllocations'),
  named('AllocationCandidates', {
    allocation_requests: Type.Array(
      named('AllocationRequest', {
        allocations: byName(Type.Object({ resources: Resources })),
        mappings: from(since('mappings'), byName(Type.Array(Uuid))),
      }),
    ),
    provider_summaries: byName(
      named('ProviderSummary', {
        resources: byName(Type.Object({ capacity: Count, used: Count })),
        traits: from(since('candidateTraits'), Type.Array(Text)),
        parent_provider_uuid: from(since('nestedCandidates'), orNull(Uuid)),
        root_provider_uuid: from(since('nestedCandidates'), Uuid),
      }),
    ),
  }),
)

listCandidates.operation = {
  summary: 'List the places where a request for resources fits',
  query: candidateQueries,
  answers: { 200: Candidates },
} satisfies Operation

export async function listCandidates(request: PlacementRequest): Promise<Answer> {
  const { config, clock, log, mirror } = request.context
  const wanted = { ...parseCandidateQuery(request), seed: config.randomizeCandidates ? clock.newSeed() : null }
  await requireKnown(request, wanted)
  const { result, body } = await runYielding(findAndWrite(mirror.table, wanted, wordsOf(request.has)))
  const modified = clock.now()
  if (!result.exhausted) return { status: 200, body, modified }
  log.warn({ query: request.query.toString(), steps: result.steps, found: result.count }, 'a search ran out of budget')
  return { status: 200, body, modified, headers: { 'holdfast-search': 'incomplete' } }
}

/** Search and answer are one run, so that the answer shows the same state of the table as the search. */
function* findAndWrite(
  table: CandidateTable,
  wanted: CandidateRequest,
  words: AnswerWords,
): Generator<undefined, { result: SearchResult; body: string | Pieces }, void> {
  const result = yield* search(table, wanted, SEARCH_BUDGET)
  const text = shortAnswer(table, result, words)
  if (text === null) return { result, body: new Pieces(yield* answerYielding(table, result, words)) }
  return { result, body: text.length <= TEXT_BYTES_MAX ? text : new Pieces([Buffer.from(text, 'latin1')]) }
}

const wordsOf = (has: Has): AnswerWords => ({
  keyed: has.keyedAllocations,
  traits: has.candidateTraits,
  allClasses: has.allClassesInSummaries,
  nested: has.nestedCandidates,
  mappings: has.mappings,
})

/** The names that only the database knows, of the queries that are kept. */
const customOf = new WeakMap<CandidateRequest['groups'], ReturnType<typeof customNames>>()

/** An unknown class or trait is the client's mistake, not a search without result. */
export async function requireKnown({ context }: PlacementRequest, wanted: CandidateRequest): Promise<void> {
  const custom = customOf.getOrInsertComputed(wanted.groups, () => customIn(wanted))
  if (custom.classes.size + custom.traits.size > 0) await context.store.read(() => requireNames(custom))
}

function customIn({ groups, rootRequired, rootForbidden }: CandidateRequest): ReturnType<typeof customNames> {
  const classes = groups.flatMap(group => group.resources.map(resource => resource.resourceClass))
  const traits = groups.flatMap(group => [...group.required.flat(), ...group.forbidden])
  return customNames(classes, [...traits, ...rootRequired, ...rootForbidden])
}
