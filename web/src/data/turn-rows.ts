// Whose turn it is, apart from signals: requests of the viewer's own that waited, and have a machine now.
import type { Machine, Waiting } from '../../../src/client/status.ts'

export interface Turns {
  /** The viewer's own requests that wait: uuid and name. */
  waits: Readonly<Record<string, string>>
  /** Those that were served, until the viewer has seen it. */
  served: readonly { uuid: string; name: string; machine: string }[]
}

export const NO_TURNS: Turns = { waits: {}, served: [] }

/** As many are kept as can be read. */
const SERVED_MAX = 5

type Row = Pick<Waiting, 'uuid' | 'name' | 'mine' | 'state'>

/** What is known next, given what waits and who has which machine now. */
export function turnsOf(
  before: Turns,
  waiting: readonly Row[],
  machines: readonly Pick<Machine, 'uuid' | 'id'>[],
): Turns {
  const own = waiting.filter(({ mine, state }) => mine && state === 'waiting')
  const waits = Object.fromEntries(own.map(({ uuid, name }) => [uuid, name ?? uuid.slice(0, 8)]))
  const left = Object.keys(before.waits).filter(uuid => !Object.hasOwn(waits, uuid))
  if (left.length === 0) return { waits, served: before.served }
  const has = new Map(machines.flatMap(({ uuid, id }) => (id === null ? [] : [[id, uuid] as const])))
  const isOver = (uuid: string) => waiting.some(row => row.uuid === uuid)
  const served = left.flatMap(uuid => {
    const machine = has.get(uuid)
    return machine === undefined || isOver(uuid) ? [] : [{ uuid, name: before.waits[uuid]!, machine }]
  })
  return { waits, served: [...before.served, ...served].slice(-SERVED_MAX) }
}
