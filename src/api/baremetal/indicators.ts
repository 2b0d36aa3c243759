// /v1/nodes/X/management/indicators: the lights of a machine.
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { Flag, named, Text } from '../shapes.ts'
import { askMachine } from './asking.ts'
import * as c from './collection.ts'
import { Links, linksTo } from './links.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const linked = (request: MetalRequest, ...path: string[]) =>
  linksTo(request.base, ['nodes', request.param('ident'), 'management', 'indicators', ...path].join('/'))

async function indicators(request: MetalRequest) {
  return (await askMachine(request, { name: 'indicators', args: {} })).indicators
}

listComponents.operation = {
  summary: 'List the parts of a machine that have lights',
  answers: { 200: Type.Object({ components: Type.Array(named('Component', { name: Text, links: Links })) }) },
} satisfies Operation

export async function listComponents(request: MetalRequest): Promise<Answer> {
  const components = Object.keys(await indicators(request))
  return { status: 200, body: { components: components.map(name => ({ name, links: linked(request, name) })) } }
}

const Indicator = named('Indicator', { name: Text, readonly: Flag, states: Type.Array(Text), links: Links })

listIndicators.operation = {
  summary: 'List the lights of a part of a machine',
  answers: { 200: Type.Object({ indicators: Type.Array(Indicator) }) },
} satisfies Operation

export async function listIndicators(request: MetalRequest): Promise<Answer> {
  const component = request.param('component')
  const all = await indicators(request)
  const found = Object.hasOwn(all, component) ? all[component] : undefined
  if (!found) throw problem('metal_not_found', { what: 'Component', name: component.slice(0, 100) })
  const shown = found.map(({ name, readonly, states }) => ({
    name,
    readonly,
    states,
    links: linked(request, component, name),
  }))
  return { status: 200, body: { indicators: shown } }
}

const light = (request: MetalRequest) => ({ component: request.param('component'), name: request.param('name') })

showIndicator.operation = {
  summary: 'Ask for the state of a light',
  answers: { 200: Type.Object({ state: Text }) },
} satisfies Operation

export async function showIndicator(request: MetalRequest): Promise<Answer> {
  const { state } = await askMachine(request, { name: 'indicator', args: light(request) })
  return { status: 200, body: { state } }
}

const STATE = c.membersOf('NewIndicatorState', { state: c.isText() }, { required: ['state'] })

putIndicator.operation = {
  summary: 'Switch a light',
  body: [STATE],
  answers: { 204: null },
} satisfies Operation

export async function putIndicator(request: MetalRequest): Promise<Answer> {
  const { state } = c.membersIn(request, STATE)
  if (typeof state !== 'string')
    throw problem('invalid_parameter', { reason: 'Missing mandatory parameter state, a string.' })
  await askMachine(request, { name: 'set_indicator', args: { ...light(request), state } })
  return { status: 204 }
}
