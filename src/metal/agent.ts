// The agent of a ramdisk: how a machine that was just started finds its node, proves that it is the one, and says that it
// is there. Whoever waits for it goes on then.
import { createHash, timingSafeEqual } from 'node:crypto'
import { Problem, problem } from '../problems/problem.ts'
import { jsonText } from '../shared/json.ts'
import { query } from '../store/statement.ts'
import { all, mark, type Read, type Write, wake } from '../store/transaction.ts'
import { EVERYTHING } from './access.ts'
import type { Json } from './drivers/port.ts'
import { internalOf, TOKEN } from './nodes/agent-info.ts'
import { AT_ONCE, findNode, isLocked, lockNode, type NodeRow, saveNode } from './nodes/rows.ts'
import { type State, STEPS } from './nodes/states.ts'
import { workOf } from './nodes/transitions.ts'

/** In these an agent is awaited. Before and after, while a conductor works on the machine, nobody is told of it. */
const AWAITING: ReadonlySet<State> = new Set<State>(
  [STEPS.deploy, STEPS.clean, STEPS.inspect, STEPS.rescue].map(({ waiting }) => waiting),
)

const nodesWithPorts = query((db, a: { addresses: readonly string[] }, on) =>
  db
    .selectFrom('nodes as n')
    .innerJoin('ports as p', 'p.node_id', 'n.id')
    .select('n.uuid')
    .distinct()
    .where(on.isIn('p.address', a.addresses)),
)

interface Asker {
  uuid: string | null
  addresses: readonly string[]
}

/**
 * One refusal for all that isn't told to strangers: no such machine, no agent is awaited on it, a conductor is at work on
 * it, a wrong token.
 */
const stranger = () => problem('metal_not_found', { what: 'Node', name: 'of this machine' })

/** The node of a machine on which an agent is awaited, and whether the token was told already. */
export function* lookUp(asker: Asker): Read<{ node: NodeRow; isTold: boolean }> {
  const uuid = asker.uuid ?? (yield* nodeWithPorts(asker.addresses))
  return awaiting(yield* known(findNode(uuid, EVERYTHING)))
}

/**
 * Gives the agent the token that it shows from now on. It is told once: whoever asks later gets null, and can't take the
 * place of the first.
 */
export function* giveToken(uuid: string, token: string, now: number): Write<string | null> {
  const { node, isTold } = awaiting(yield* known(lockNode(uuid, EVERYTHING)))
  if (isTold) return null
  const info = jsonText({ ...internalOf(node), [TOKEN]: digest(token) })
  yield* saveNode(node, { ...node, driver_internal_info: info, updated_at: now })
  yield* mark({ kind: 'node', id: node.uuid })
  return token
}

function awaiting(node: NodeRow): { node: NodeRow; isTold: boolean } {
  if (!AWAITING.has(node.provision_state) || isLocked(node)) throw stranger()
  return { node, isTold: internalOf(node)[TOKEN] !== undefined }
}

function* nodeWithPorts(addresses: readonly string[]): Read<string> {
  const found = yield* all(nodesWithPorts({ addresses }))
  if (found.length !== 1) throw stranger()
  return found[0]!.uuid
}

/** What is found; a stranger isn't told that there is none. */
function known<Found>(found: Read<Found>): Read<Found>
function known<Found>(found: Write<Found>): Write<Found>
function* known<Found>(found: Write<Found>): Write<Found> {
  try {
    return yield* found
  } catch (error) {
    throw error instanceof Problem && error.kind === 'metal_not_found' ? stranger() : error
  }
}

/** What is kept of a token: a copy of the database doesn't help to play the agent. */
const digest = (token: string): string => createHash('sha256').update(token).digest('hex')

interface Heartbeat {
  callbackUrl: string
  token: string
  /** What else the agent says of itself, by the names of driver_internal_info. */
  about: Json
}

/** Refuses whoever doesn't show the token of this node's agent. */
export function* requireAgent(ident: string, { token }: Pick<Heartbeat, 'token'>): Read<void> {
  requireToken(yield* known(findNode(ident, EVERYTHING)), token)
}

/** The agent is there. A node that waits for it goes on at once. */
export function* takeHeartbeat(ident: string, beat: Heartbeat, now: number): Write<void> {
  const node = yield* known(lockNode(ident, EVERYTHING))
  requireToken(node, beat.token)
  // To its agent, too, names are nothing.
  if (isLocked(node)) throw problem('node_locked', { node: node.uuid, host: 'a conductor' })
  const internal = internalOf(node)
  const url = internal['agent_url']
  if (url !== undefined && url !== beat.callbackUrl) {
    const reason = 'The callback_url is not the one of the agent that was here before.'
    throw problem('invalid_parameter', { reason })
  }
  const told = { agent_url: beat.callbackUrl, ...beat.about, agent_last_heartbeat: new Date(now).toISOString() }
  const goesOn = resumed(node)
  yield* saveNode(node, {
    ...node,
    ...goesOn,
    driver_internal_info: jsonText({ ...internal, ...told }),
    updated_at: now,
  })
  yield* mark({ kind: 'node', id: node.uuid })
  if (goesOn) yield* wake('nodes')
}

function requireToken(node: NodeRow, token: string): void {
  const kept = internalOf(node)[TOKEN]
  const isRight =
    typeof kept === 'string' &&
    kept.length === digest('').length &&
    timingSafeEqual(Buffer.from(kept), Buffer.from(digest(token)))
  if (!isRight) throw stranger()
}

/** The work of a node that waits, due now; null if it doesn't wait. */
function resumed(node: NodeRow): Pick<NodeRow, 'transition' | 'due_at'> | null {
  const work = workOf(node)
  if (work?.kind !== 'provision' || !work.resumed) return null
  const { callBackBy: _, ...rest } = work
  return { transition: jsonText(rest), due_at: AT_ONCE }
}
