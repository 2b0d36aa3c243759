// /v1/nodes/X/traits
import { added, changeTraits, nodeTraits, removed, replaced, requireTraitNames } from '../../metal/nodes/traits.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { Text } from '../shapes.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'
import { unknownMember } from './collection.ts'

const Shown = Type.Object({ traits: Type.Array(Text) })
const TRAITS: Form = { schema: Type.Object({ traits: Type.Array(Text) }, { additionalProperties: false }) }
const EMPTY: Form = { schema: Type.Object({}, { additionalProperties: false }) }

listNodeTraits.operation = { summary: 'List the traits of a node', answers: { 200: Shown } } satisfies Operation

export async function listNodeTraits(request: MetalRequest): Promise<Answer> {
  const traits = await request.context.store.read(() => nodeTraits(nodeIdent(request), request.access()))
  return { status: 200, body: { traits } }
}

putNodeTraits.operation = {
  summary: 'Set all traits of a node',
  description: `Before ${since('traitsInAnswer')} it answers 204, without a body.`,
  body: [TRAITS],
  answers: { 200: Shown, 204: null },
} satisfies Operation

export async function putNodeTraits(request: MetalRequest): Promise<Answer> {
  const { traits: names, ...others } = request.object(TRAITS)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw problem('invalid_parameter', { reason: unknownMember(unknown, ['traits']) })
  if (!Array.isArray(names) || !names.every(name => typeof name === 'string')) {
    throw problem('invalid_parameter', {
      reason: 'Expected an object with "traits", a list of strings, and nothing else.',
    })
  }
  requireTraitNames(names)
  const traits = await change(request, replaced(names))
  return request.has.traitsInAnswer ? { status: 200, body: { traits } } : { status: 204 }
}

deleteNodeTraits.operation = { summary: 'Take all traits from a node', answers: { 204: null } } satisfies Operation

export async function deleteNodeTraits(request: MetalRequest): Promise<Answer> {
  await change(request, replaced([]))
  return { status: 204 }
}

putNodeTrait.operation = {
  summary: 'Give a node one more trait',
  body: [EMPTY],
  bodyIsOptional: true,
  answers: { 204: null },
} satisfies Operation

export async function putNodeTrait(request: MetalRequest): Promise<Answer> {
  // Some clients send an empty object where others send nothing.
  if (request.hasBody && Object.keys(request.object(EMPTY)).length > 0) {
    throw problem('invalid_parameter', { reason: 'No body should be provided when setting one trait.' })
  }
  const name = request.param('trait')
  requireTraitNames([name])
  await change(request, added(name))
  return { status: 204, location: `/nodes/${request.param('ident')}/traits/${name}` }
}

deleteNodeTrait.operation = { summary: 'Take a trait from a node', answers: { 204: null } } satisfies Operation

export async function deleteNodeTrait(request: MetalRequest): Promise<Answer> {
  await change(request, removed(request.param('trait'), request.param('ident')))
  return { status: 204 }
}

function change(request: MetalRequest, to: Parameters<typeof changeTraits>[2]): Promise<string[]> {
  const ident = nodeIdent(request)
  return request.context.store.write(() => changeTraits(ident, request.access(), to, request.now))
}
