// Brings nodes to their wanted states, all in parallel, because each one takes long.
import { type Holdfast, isAway, type Node, type Verb } from '../../client/index.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { waitFor } from '../progress.ts'
import { atOnce } from '../../shared/at-once.ts'
import { isBusy, nextStep, type Wanted } from './states.ts'

interface Traveller {
  uuid: string
  /** null if it only has to stop being busy. */
  wanted: Wanted | null
  /** A machine that nobody has inspected is, before it is provided. */
  inspects: boolean
  arrived: () => void
  failed: (error: unknown) => void
}

interface SettleOptions {
  /** Requests at a time. */
  width: number
  /** null for no limit. */
  timeoutMs: number | null
  show: (words: string) => void
}

const FIELDS = [
  'uuid',
  'provision_state',
  'target_provision_state',
  'instance_uuid',
  'last_error',
  'inspection_finished_at',
  'inspect_interface',
]
/** Above this many nodes, one list of all is cheaper than one request for each. */
const ASKED_SINGLY_MAX = 16

export async function settle(
  server: Holdfast,
  travellers: readonly Traveller[],
  options: SettleOptions,
): Promise<void> {
  const { width, timeoutMs, show } = options
  const onTheWay = new Map(travellers.map(traveller => [traveller.uuid, traveller]))
  const sent = new Map(travellers.map(({ uuid }) => [uuid, new Set<Verb>()]))
  const look = async () => {
    const seen = new Map((await statesOf(server, [...onTheWay.keys()], width)).map(node => [node.uuid, node]))
    let away: unknown = null
    const go = async (traveller: Traveller) => {
      try {
        if (await goOn(server, traveller, seen.get(traveller.uuid), sent.get(traveller.uuid)!)) return
        traveller.arrived()
      } catch (error) {
        // The next look shows whether the verb has arrived.
        if (isAway(error)) {
          away = error
          return
        }
        traveller.failed(error)
      }
      onTheWay.delete(traveller.uuid)
    }
    await atOnce([...onTheWay.values()], go, { width })
    if (away !== null) throw away
    return onTheWay.size === 0 ? { done: true } : { waitingFor: `waiting for ${countOf(onTheWay.size)}` }
  }
  try {
    await waitFor(look, { timeoutMs, progress: { show, clear: () => {} } })
  } catch (error) {
    for (const { failed } of onTheWay.values()) failed(error)
  }
}

const countOf = (nodes: number) => `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`

/** Sends the next verb unless the node is busy. Returns whether the node is still on its way. */
async function goOn(server: Holdfast, { uuid, wanted, inspects }: Traveller, node: Node | undefined, sent: Set<Verb>) {
  if (!node) throw new CommandFailure(EXIT.notFound, 'it is gone')
  const next = wanted === null ? (isBusy(node) ? 'wait' : 'there') : nextStep(node, wanted, inspects)
  if (next === 'there') return false
  if (next === 'wait') return true
  if (next === null || sent.has(next)) {
    const why = node.last_error ? `: ${node.last_error}` : ''
    throw new CommandFailure(EXIT.failed, `it is ${node.provision_state}, not ${wanted}${why}`)
  }
  await server.nodes.provision(uuid, next)
  sent.add(next)
  return true
}

async function statesOf({ nodes }: Holdfast, uuids: readonly string[], width: number): Promise<Node[]> {
  if (uuids.length > ASKED_SINGLY_MAX) return nodes.list({ fields: FIELDS })
  const found: Node[] = []
  await atOnce(uuids, async uuid => found.push(await nodes.show(uuid, FIELDS)), { width })
  return found
}
