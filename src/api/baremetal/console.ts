// /v1/nodes/X/states/console: whether the console may be opened, and where it is.
import { setConsole } from '../../metal/nodes/console-flag.ts'
import { findNode, type Node } from '../../metal/nodes/rows.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { Flag, named, orNull, Text } from '../shapes.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import { askMachine } from './asking.ts'
import * as c from './collection.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'

const Console = named('Console', {
  console_enabled: Flag,
  console_info: orNull(named('ConsoleInfo', { type: Text, url: Text })),
})

showConsole.operation = {
  summary: 'Say whether the console of a node may be opened, and where it is',
  answers: { 200: Console },
} satisfies Operation

export async function showConsole(request: MetalRequest): Promise<Answer> {
  const node = await request.context.store.read(() => findNode(nodeIdent(request), request.access()))
  const isEnabled = node.console_enabled === 1
  return {
    status: 200,
    body: { console_enabled: isEnabled, console_info: isEnabled ? await placeOf(request, node) : null },
  }
}

/** Where the console is. A page of the BMC's own is for those who may know how the node is driven. */
export async function consoleOf(request: MetalRequest, node: Node) {
  const { console } = await askMachine(request, { name: 'console', args: {} })
  return console?.kind === 'link' && !request.may('baremetal:node:get:driver_info', node) ? null : console
}

async function placeOf(request: MetalRequest, node: Node) {
  const console = await consoleOf(request, node)
  if (console === null) return null
  if (console.kind === 'link') return { type: 'link', url: console.url }
  return {
    type: 'websocket',
    url: `${request.origin.replace(/^http/, 'ws')}${PREFIXES.operator}/nodes/${node.uuid}/console`,
  }
}

const NEW_CONSOLE = c.membersOf('NewConsoleState', { enabled: c.isFlag }, { required: ['enabled'] })

putConsole.operation = {
  summary: 'Let the console of a node be opened, or end it',
  body: [NEW_CONSOLE],
  answers: { 202: null },
} satisfies Operation

export async function putConsole(request: MetalRequest): Promise<Answer> {
  const { store, drivers } = request.context
  const { enabled } = c.membersIn(request, NEW_CONSOLE)
  if (typeof enabled !== 'boolean')
    throw problem('invalid_parameter', { reason: 'Missing mandatory parameter enabled: true or false.' })
  await store.write(() => setConsole(nodeIdent(request), request.access(), { enabled, drivers }, request.now))
  return { status: 202, location: `/nodes/${request.param('ident')}/states/console` }
}
