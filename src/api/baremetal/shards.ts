// /v1/shards, and the lists that are always empty here.
import { Type } from 'typebox'
import { findNode } from '../../metal/nodes/rows.ts'
import { countShards } from '../../metal/nodes/shards.ts'
import type { Operation } from '../operation.ts'
import { Count, named, Text } from '../shapes.ts'
import { Links, linksTo } from './links.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'

listShards.operation = {
  summary: 'List the shards, with the number of nodes in each',
  answers: { 200: Type.Object({ shards: Type.Array(named('Shard', { name: Text, count: Count })) }) },
} satisfies Operation

export async function listShards({ context }: MetalRequest): Promise<Answer> {
  const found = await context.store.read(() => countShards())
  return { status: 200, body: { shards: found.map(({ name, count }) => ({ name: name ?? 'None', count })) } }
}

const VolumeLinks = named('Volume', { links: Links, connectors: Links, targets: Links })

const volumeLinks = (base: string, path: string) => ({
  links: linksTo(base, `${path}/`),
  connectors: linksTo(base, `${path}/connectors`),
  targets: linksTo(base, `${path}/targets`),
})

export const showVolume = ({ base }: MetalRequest): Answer => ({ status: 200, body: volumeLinks(base, 'volume') })
showVolume.operation = { summary: 'Show where volumes would be', answers: { 200: VolumeLinks } } satisfies Operation

showVolumeOfNode.operation = {
  summary: 'Show where the volumes of a node would be',
  answers: { 200: VolumeLinks },
} satisfies Operation

export async function showVolumeOfNode(request: MetalRequest): Promise<Answer> {
  const { uuid } = await request.context.store.read(() => findNode(nodeIdent(request), request.access()))
  return { status: 200, body: volumeLinks(request.base, `nodes/${uuid}/volume`) }
}

/** The id is required here, because these handlers have no function name. */
type Named = Required<Pick<Operation, 'id' | 'summary'>>
const Nothing = Type.Array(Type.Unknown(), { maxItems: 0 })

/** A handler of a list that is always empty. */
const emptyList = (name: string, operation: Named) =>
  Object.assign((_: MetalRequest): Answer => ({ status: 200, body: { [name]: [] } }), {
    operation: { ...operation, answers: { 200: Type.Object({ [name]: Nothing }) } } satisfies Operation,
  })

/** The same below a node, which must exist. */
const emptyListOfNode = (name: string, operation: Named) => {
  const list = emptyList(name, operation)
  const handle = async (request: MetalRequest): Promise<Answer> => {
    await request.context.store.read(() => findNode(nodeIdent(request), request.access()))
    return list(request)
  }
  return Object.assign(handle, { operation: list.operation })
}

export const listBios = emptyListOfNode('bios', {
  id: 'listBios',
  summary: 'List the BIOS settings of a node: none are kept',
})
export const listConnectorsOfNode = emptyListOfNode('connectors', {
  id: 'listConnectorsOfNode',
  summary: 'List the volume connectors of a node: there are none',
})
export const listTargetsOfNode = emptyListOfNode('targets', {
  id: 'listTargetsOfNode',
  summary: 'List the volume targets of a node: there are none',
})
export const listConnectors = emptyList('connectors', {
  id: 'listConnectors',
  summary: 'List the volume connectors: there are none',
})
export const listTargets = emptyList('targets', {
  id: 'listTargets',
  summary: 'List the volume targets: there are none',
})
export const listDeployTemplates = emptyList('deploy_templates', {
  id: 'listDeployTemplates',
  summary: 'List the deploy templates: there are none',
})
