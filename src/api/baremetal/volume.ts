// /v1/volume, and the same below a node: where its connectors and targets are.
import { findNode } from '../../metal/nodes/rows.ts'
import type { Operation } from '../operation.ts'
import { named } from '../shapes.ts'
import { Links, linksTo } from './links.ts'
import { nodeIdent } from './nodes.ts'
import { type Answer, type MetalRequest, NO_PARAMETERS } from './request.ts'

const VolumeLinks = named('Volume', { links: Links, connectors: Links, targets: Links })

const volumeLinks = (base: string, path: string) => ({
  links: linksTo(base, `${path}/`),
  connectors: linksTo(base, `${path}/connectors`),
  targets: linksTo(base, `${path}/targets`),
})

showVolume.operation = {
  summary: 'Show where volume connectors and targets are',
  query: [NO_PARAMETERS],
  answers: { 200: VolumeLinks },
} satisfies Operation

export function showVolume(request: MetalRequest): Answer {
  request.parameters(NO_PARAMETERS)
  return { status: 200, body: volumeLinks(request.base, 'volume') }
}

showVolumeOfNode.operation = {
  summary: 'Show where the volume connectors and targets of a node are',
  query: [NO_PARAMETERS],
  answers: { 200: VolumeLinks },
} satisfies Operation

export async function showVolumeOfNode(request: MetalRequest): Promise<Answer> {
  request.parameters(NO_PARAMETERS)
  const { uuid } = await request.context.store.read(() => findNode(nodeIdent(request), request.access()))
  return { status: 200, body: volumeLinks(request.base, `nodes/${uuid}/volume`) }
}
