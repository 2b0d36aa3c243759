// /v1/nodes/X/validate: the settings of each interface, and what the machine itself says.
import type { InterfaceName } from '../../metal/drivers/port.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { validateNode } from '../../metal/nodes/validation.ts'
import { Problem, problem, type ProblemKind } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { byName, Flag, named, Text } from '../shapes.ts'
import { nodeIdent } from './nodes.ts'
import { type Answer, type MetalRequest, parametersOf } from './request.ts'
import { Type } from '../../shared/type.ts'

const Verdicts = byName(named('Verdict', { result: Flag, reason: Type.Optional(Text) }))

export const showValidation = (request: MetalRequest) => validate(request, nodeIdent(request))
showValidation.operation = {
  summary: 'Say of each interface of a node whether it can be driven; the machine is asked too',
  answers: { 200: Verdicts },
} satisfies Operation

const VALIDATE_PARAMETERS = parametersOf({ node: Text, node_uuid: Text })

showValidationOf.operation = {
  summary: 'Say of each interface of a node, named in the query, whether it can be driven',
  query: [VALIDATE_PARAMETERS],
  answers: { 200: Verdicts },
} satisfies Operation

export function showValidationOf(request: MetalRequest): Promise<Answer> {
  const given = request.parameters(VALIDATE_PARAMETERS)
  const ident = given.get('node') ?? given.get('node_uuid')
  if (!ident) throw problem('invalid_parameter', { reason: 'Missing mandatory parameter node.' })
  return validate(request, ident)
}

async function validate(request: MetalRequest, ident: string): Promise<Answer> {
  const { store, drivers } = request.context
  const settings = await store.read(function* () {
    return yield* validateNode(yield* findNode(ident, request.access()), drivers)
  })
  // With wrong settings the BMC can't be found.
  const machine = settings.get('power') === null ? await verdictsOfMachine(request, ident) : {}
  const shown = Array.from(settings, ([name, wrong]) => {
    const reason = wrong ?? machine[name] ?? null
    return [name, reason === null ? { result: true } : { result: false, reason }]
  })
  return { status: 200, body: Object.fromEntries(shown) as object }
}

/** Problems that are an answer too: why the machine could not be asked. */
const UNASKED: ReadonlySet<ProblemKind> = new Set<ProblemKind>([
  'machine_failed',
  'machine_silent',
  'machine_crowded',
  'conductor_silent',
  'invalid_parameter',
])

async function verdictsOfMachine(
  request: MetalRequest,
  node: string,
): Promise<Partial<Record<InterfaceName, string | null>>> {
  const { calls, store } = request.context
  const asked = { store, node, access: request.access(), ms: limits.callValidateMs }
  try {
    return await calls.ask({ name: 'validate', args: {} }, asked)
  } catch (error) {
    if (!(error instanceof Problem) || !UNASKED.has(error.kind)) throw error
    const { reason = error.message } = error.facts as { reason?: string }
    return { power: reason, management: reason }
  }
}
