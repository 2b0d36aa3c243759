// GET /holdfast/v1/nodes/X/console: where the console of a machine is, or the console itself as a web socket.
import type { WebSocket } from 'ws'
import { requireOwnPage } from '../../http/pages.ts'
import { isUpgrade } from '../../http/upgrades.ts'
import { findNode, type Node } from '../../metal/nodes/rows.ts'
import { driverOf } from '../../metal/nodes/transitions.ts'
import { machineOf } from '../../metal/nodes/validation.ts'
import { Problem, problem } from '../../problems/problem.ts'
import { consoleOf } from '../baremetal/console.ts'
import type { Operation } from '../operation.ts'
import { Flag, named, oneOf, orNull, Text } from '../shapes.ts'
import { ConsoleSocket } from './console-socket.ts'
import { callerNow, holderOf } from './lasting.ts'
import { type Answer, inMetal, type OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Place = named('ConsolePlace', { kind: oneOf('stream', 'link'), url: Type.Optional(Text) })

getConsole.operation = {
  summary: 'Say where the console of a machine is, or open it as a web socket',
  description:
    'As a web socket (Upgrade: websocket): binary messages are what the machine prints and what is typed, text ' +
    'messages are words about the line. A page sends its ticket of POST /events/tickets as a protocol: ' +
    'new WebSocket(url, ["holdfast", `ticket.${ticket}`]). It opens one console. The console must be enabled.',
  answers: { 200: Type.Object({ console_enabled: Flag, console: orNull(Place) }) },
} satisfies Operation

const nodeOf = (request: OperatorRequest) =>
  request.context.store.read(() => findNode(request.param('ident'), inMetal(request).access()))

export async function getConsole(request: OperatorRequest): Promise<Answer> {
  const node = await nodeOf(request)
  if (isUpgrade(request.raw)) return openSocket(request, node)
  const console = await consoleOf(inMetal(request), node)
  return { status: 200, body: { console_enabled: node.console_enabled === 1, console } }
}

async function openSocket(request: OperatorRequest, node: Node): Promise<Answer> {
  const { config, consoles, streams, drivers, identity } = request.context
  const { raw } = request
  requireOwnPage(config, { headers: raw.headers, host: raw.host })
  const wrong = whyClosed(node) ?? driverOf(node, drivers).validate('console', machineOf(node))
  if (wrong !== null) throw problem('invalid_parameter', { reason: wrong })
  // Whoever overheard a ticket comes second.
  if (raw.ticket !== null && !(await identity.tickets.spend(raw.ticket))) throw problem('unauthorized', {})
  const upgraded = (taken: WebSocket) => {
    const socket = new ConsoleSocket(taken, () => whyNoLonger(request))
    try {
      const leave = streams.enter(holderOf(request), () => socket.end('the service is stopping; come back'))
      taken.once('close', leave)
      socket.sit(consoles.enter(node, socket))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      socket.end(error.message)
    }
  }
  return { status: 101, upgraded }
}

const whyClosed = ({ console_enabled, uuid }: Node) =>
  console_enabled === 1 ? null : `The console of node ${uuid} is not enabled. Enable it first.`

/** Asked again and again: the machine may have gone to someone else, and the token may have ended. */
async function whyNoLonger(request: OperatorRequest): Promise<string | null> {
  const caller = await callerNow(request)
  if (typeof caller === 'string') return caller
  request.raw.caller = caller
  try {
    const node = await nodeOf(request)
    request.context.consoles.look(node)
    return whyClosed(node)
  } catch (error) {
    if (error instanceof Problem) return 'you may no longer see this machine'
    // The database is away: what can't be checked isn't shown.
    return 'the rights can not be checked now; come back'
  }
}
