// Servers on bare metal: the server's uuid is the node's instance, and the server's status follows the node's state.
import { EVERYTHING } from '../metal/access.ts'
import { sql } from 'kysely'
import { patchNode } from '../metal/nodes/lifecycle.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import type { Patch } from '../metal/json-patch.ts'
import { findInstance, findNode, lockNode, type NodeRow } from '../metal/nodes/rows.ts'
import { FREE_TO_CHANGE, transitionFor } from '../metal/nodes/states.ts'
import type { Principal } from '../metal/nodes/provider.ts'
import { type Order, startVerb } from '../metal/nodes/transitions.ts'
import { jsonIn, WORDS } from '../shared/json.ts'
import { limits } from '../shared/limits.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { query } from '../store/statement.ts'
import { all, type Read, type Write, wake } from '../store/transaction.ts'
import { addServer, dropServers, lockServer, type NewServer, saveServer, type Server } from './servers.ts'
import { requiredTraits, type Wish } from './wishes.ts'

const unsettled = query((db, _: object) =>
  db
    .selectFrom('servers as s')
    .leftJoin('nodes as n', 'n.instance_uuid', 's.uuid')
    .select(['s.uuid as server', 's.project_id'])
    .where('s.is_metal', '=', sql.lit(1))
    .where(e => e.or([e('s.task', 'is not', null), e('n.id', 'is', null)]))
    .orderBy('s.id')
    .limit(limits.serversPerLook),
)

/** Gives the node to the server and starts to deploy it; a refusal by the node ends the transaction. */
export function* deployServer(
  server: NewServer,
  host: { id: ProviderId; uuid: string },
  wish: Wish,
  drivers: Drivers,
  now: number,
): Write<boolean> {
  const info = (name: string, value: unknown): Patch => ({ op: 'add', path: ['instance_info', name], value })
  const patches: Patch[] = [
    { op: 'add', path: ['instance_uuid'], value: server.uuid },
    info('display_name', server.name),
    info('traits', requiredTraits(wish)),
    ...mediaOf(server, yield* findNode(host.uuid, EVERYTHING)).map(([name, value]) => info(name, value)),
  ]
  yield* patchNode(host.uuid, ALL, patches, drivers, principalOf(server), now)
  yield* startVerb(host.uuid, EVERYTHING, orderOf(server, 'active'), drivers, now)
  yield* addServer({ ...server, host_id: host.id, is_metal: 1, status: 'BUILD', task: 'spawning' })
  yield* wake('servers')
  return true
}

/** What the node boots: a machine that boots an ISO gets no image, since nothing is written to its disks. */
function mediaOf({ image_id, metadata }: NewServer, { interfaces }: NodeRow): [name: string, value: string][] {
  const { boot_iso } = jsonIn(metadata, WORDS)
  if (jsonIn(interfaces, WORDS)['deploy'] === 'ramdisk')
    return typeof boot_iso === 'string' ? [['boot_iso', boot_iso]] : []
  return image_id === null ? [] : [['image_source', image_id]]
}

/** Servers that wait for their node, or have lost it. */
export function* unsettledServers(): Read<{ server: string; project_id: string }[]> {
  return yield* all(unsettled({}))
}

export type Step =
  | { kind: 'wait' }
  | { kind: 'run' }
  | { kind: 'fail'; fault: string }
  | { kind: 'tear down' }
  | { kind: 'let go' }
  | { kind: 'gone' }

type Facts = Pick<NodeRow, 'provision_state' | 'transition' | 'last_error' | 'uuid'>

/** The next step for a server, from its task and its node. */
export function nextStep({ task }: Pick<Server, 'task'>, node: Facts | undefined): Step {
  if (!node) {
    return task === 'deleting' || task === 'tearing down'
      ? { kind: 'gone' }
      : { kind: 'fail', fault: 'The bare metal node of this server was taken away from it.' }
  }
  const state = node.provision_state
  const mayBeEmptied = transitionFor('deleted', state) !== null
  if (task === 'deleting' && mayBeEmptied) return { kind: 'tear down' }
  if (node.transition !== null) return { kind: 'wait' }
  const failed: Step = { kind: 'fail', fault: node.last_error ?? `Node ${node.uuid} is in state ${state}.` }
  switch (task) {
    case 'spawning':
      return state === 'active' ? { kind: 'run' } : failed
    case 'deleting':
      return FREE_TO_CHANGE.has(state) ? { kind: 'let go' } : { kind: 'wait' }
    case 'tearing down':
      return failed
    default:
      return { kind: 'wait' }
  }
}

/** Does the next step for a server, and returns its kind. */
export function* settleServer(uuid: string, drivers: Drivers, now: number): Write<Step['kind']> {
  const server = yield* lockServer(uuid, null)
  const found = yield* findInstance(uuid)
  const locked = found && (yield* lockNode(found.uuid, EVERYTHING))
  const node = locked?.instance_uuid === uuid ? locked : undefined
  const step = nextStep(server, node)
  const after = { ...server, updated_at: now }
  switch (step.kind) {
    case 'wait':
      break
    case 'run':
      yield* saveServer(server, { ...after, status: 'ACTIVE', task: null, launched_at: now })
      break
    case 'fail': {
      // Without its node it has no host any more.
      const place = node ? {} : ({ host_id: null, is_metal: 0 } as const)
      yield* saveServer(server, { ...after, ...place, status: 'ERROR', task: null, fault: step.fault, fault_at: now })
      break
    }
    case 'tear down':
      yield* startVerb(node!.uuid, EVERYTHING, orderOf(server, 'deleted'), drivers, now)
      yield* saveServer(server, { ...after, task: 'tearing down' })
      break
    case 'let go':
      yield* patchNode(node!.uuid, ALL, [RELEASE], drivers, principalOf(server), now)
      yield* dropServers([server])
      break
    case 'gone':
      yield* dropServers([server])
      break
  }
  return step.kind
}

const principalOf = ({ project_id, user_id }: Pick<NewServer, 'project_id' | 'user_id'>): Principal => ({
  project: project_id,
  user: user_id,
})

const orderOf = (server: Pick<NewServer, 'project_id' | 'user_id'>, verb: 'active' | 'deleted'): Order => ({
  verb,
  word: verb,
  args: {},
  reservation: null,
  who: principalOf(server),
})

const ALL = { node: EVERYTHING, allocation: EVERYTHING }
const RELEASE: Patch = { op: 'remove', path: ['instance_uuid'], value: undefined }
