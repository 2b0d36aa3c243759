// /v1/nodes/X/traits
import { added, changeTraits, nodeTraits, removed, replaced, requireTraitNames } from '../../metal/traits.ts'
import { problem } from '../../problem.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'

export async function listNodeTraits(request: MetalRequest): Promise<Answer> {
  const traits = await request.context.store.read(() => nodeTraits(nodeIdent(request), request.access()))
  return { status: 200, body: { traits } }
}

export async function putNodeTraits(request: MetalRequest): Promise<Answer> {
  const { traits: names, ...others } = request.object()
  if (Object.keys(others).length > 0 || !Array.isArray(names) || !names.every(name => typeof name === 'string')) {
    throw problem('invalid_parameter', {
      reason: 'Expected an object with "traits", a list of strings, and nothing else.',
    })
  }
  requireTraitNames(names)
  const traits = await change(request, replaced(names))
  return request.has.traitsInAnswer ? { status: 200, body: { traits } } : { status: 204 }
}

export async function deleteNodeTraits(request: MetalRequest): Promise<Answer> {
  await change(request, replaced([]))
  return { status: 204 }
}

export async function putNodeTrait(request: MetalRequest): Promise<Answer> {
  // Some clients send an empty object where others send nothing.
  if (request.hasBody && Object.keys(request.object()).length > 0) {
    throw problem('invalid_parameter', { reason: 'No body should be provided when setting one trait.' })
  }
  const name = request.param('trait')
  requireTraitNames([name])
  await change(request, added(name))
  return { status: 204, location: `/nodes/${request.param('ident')}/traits/${name}` }
}

export async function deleteNodeTrait(request: MetalRequest): Promise<Answer> {
  await change(request, removed(request.param('trait'), request.param('ident')))
  return { status: 204 }
}

function change(request: MetalRequest, to: Parameters<typeof changeTraits>[2]): Promise<string[]> {
  const ident = nodeIdent(request)
  return request.context.store.write(() => changeTraits(ident, request.access(), to, request.now))
}
