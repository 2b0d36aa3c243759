// /v1/nodes/X/vifs
import { attachVif, detachVif, listVifs } from '../../metal/nodes/vifs.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { Text } from '../shapes.ts'
import * as c from './collection.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const VIF: Form = {
  schema: Type.Object(
    { id: Type.String({ minLength: 1, maxLength: 255 }) },
    { title: 'Vif', additionalProperties: true },
  ),
}

showVifs.operation = {
  summary: 'List the virtual interfaces attached to a node',
  answers: { 200: Type.Object({ vifs: Type.Array(Type.Object({ id: Text })) }) },
} satisfies Operation

export async function showVifs(request: MetalRequest): Promise<Answer> {
  const vifs = await request.context.store.read(() => listVifs(nodeIdent(request), request.access()))
  return { status: 200, body: { vifs: vifs.map(id => ({ id })) } }
}

postVif.operation = {
  summary: 'Attach a virtual interface to a node',
  body: [VIF],
  answers: { 204: null },
} satisfies Operation

export async function postVif(request: MetalRequest): Promise<Answer> {
  const { id } = request.object(VIF)
  if (!c.isText()(id) || id === '')
    throw problem('invalid_parameter', { reason: 'A VIF needs an id, a string of 1 to 255 characters.' })
  await request.context.store.write(() => attachVif(nodeIdent(request), request.access(), id as string, request.now))
  return { status: 204 }
}

deleteVif.operation = { summary: 'Detach a virtual interface from a node', answers: { 204: null } } satisfies Operation

export async function deleteVif(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() =>
    detachVif(nodeIdent(request), request.access(), request.param('vif'), request.now),
  )
  return { status: 204 }
}
