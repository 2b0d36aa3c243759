// The agent of a ramdisk: how a machine that was just started finds its node, proves that it is the one, and says that it
// is there. Whoever waits for it goes on then.
import { createHash, timingSafeEqual } from 'node:crypto'
import { Problem, problem } from '../problems/problem.ts'
import { jsonText } from '../shared/json.ts'
import { query } from '../store/statement.ts'
import { all, type Read, type Write, wake } from '../store/transaction.ts'
import { EVERYTHING } from './access.ts'
import type { Json } from './drivers/port.ts'
import { internalOf, TOKEN } from './nodes/agent-info.ts'
import { AT_ONCE, findNode, lockNode, type NodeRow, requireUnlocked, saveNode } from './nodes/rows.ts'
import { type State, STEPS } from './nodes/states.ts'
import { workOf } from './nodes/transitions.ts'

/** In these a ramdisk may be at work on the machine. */
const WITH_RAMDISK: ReadonlySet<State> = new Set<State>(
  [STEPS.deploy, STEPS.clean, STEPS.inspect, STEPS.rescue].flatMap(({ during, waiting }): State[] => [during, waiting]),
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

/** One text for all that isn't told to strangers: unknown machines, and nodes that no ramdisk is expected on. */
const stranger = () => problem('metal_not_found', { what: 'Node', name: 'of this machine' })

/**
 * The node of a machine, and the token that its agent shows from now on. The token is told once: whoever asks later gets
 * null, and can't take the place of the first.
 */
export function* lookUp(
  asker: Asker,
  newToken: () => string,
  now: number,
): Write<{ node: NodeRow; token: string | null }> {
  const uuid = asker.uuid ?? (yield* nodeWithPorts(asker.addresses))
  const node = yield* lockKnown(uuid)
  if (!WITH_RAMDISK.has(node.provision_state)) throw stranger()
  requireUnlocked(node)
  const internal = internalOf(node)
  if (internal[TOKEN] !== undefined) return { node, token: null }
  const token = newToken()
  const after = { ...node, driver_internal_info: jsonText({ ...internal, [TOKEN]: digest(token) }), updated_at: now }
  yield* saveNode(node, after)
  return { node: after, token }
}

function* nodeWithPorts(addresses: readonly string[]): Read<string> {
  const found = yield* all(nodesWithPorts({ addresses }))
  if (found.length !== 1) throw stranger()
  return found[0]!.uuid
}

function* lockKnown(uuid: string): Write<NodeRow> {
  try {
    return yield* lockNode(uuid, EVERYTHING)
  } catch (error) {
    throw error instanceof Problem && error.kind === 'metal_not_found' ? stranger() : error
  }
}

/** What is kept of a token: a copy of the database doesn't help to play the agent. */
const digest = (token: string): string => createHash('sha256').update(token).digest('hex')

interface Heartbeat {
  callbackUrl: string
  token: string | null
  /** What else the agent says of itself, by the names of driver_internal_info. */
  about: Json
}

/** The agent is there. A node that waits for it goes on at once. */
export function* takeHeartbeat(ident: string, beat: Heartbeat, now: number): Write<void> {
  const refuse = (reason: string) => problem('invalid_parameter', { reason })
  // Without the lock first: a wrong token is told as such, whatever the node is doing.
  requireToken(yield* findNode(ident, EVERYTHING), beat.token)
  const node = yield* lockNode(ident, EVERYTHING)
  requireUnlocked(node)
  requireToken(node, beat.token)
  const internal = internalOf(node)
  const url = internal['agent_url']
  if (url !== undefined && url !== beat.callbackUrl) {
    throw refuse('The callback_url is not the one of the agent that was here before.')
  }
  const told = { agent_url: beat.callbackUrl, ...beat.about, agent_last_heartbeat: new Date(now).toISOString() }
  const goesOn = resumed(node)
  yield* saveNode(node, {
    ...node,
    ...goesOn,
    driver_internal_info: jsonText({ ...internal, ...told }),
    updated_at: now,
  })
  if (goesOn) yield* wake('nodes')
}

function requireToken(node: NodeRow, token: string | null): void {
  const kept = internalOf(node)[TOKEN]
  if (token === null) throw problem('invalid_parameter', { reason: 'An agent_token is required.' })
  const isRight =
    typeof kept === 'string' &&
    kept.length === digest('').length &&
    timingSafeEqual(Buffer.from(kept), Buffer.from(digest(token)))
  if (!isRight) throw problem('invalid_parameter', { reason: 'The agent_token is not valid for this node.' })
}

/** The work of a node that waits, due now; null if it doesn't wait. */
function resumed(node: NodeRow): Pick<NodeRow, 'transition' | 'due_at'> | null {
  const work = workOf(node)
  if (work?.kind !== 'provision' || !work.resumed) return null
  const { callBackBy: _, ...rest } = work
  return { transition: jsonText(rest), due_at: AT_ONCE }
}
