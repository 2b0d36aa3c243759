// What matters of an allocation, for whoever has just asked for it.
import type { Allocation, Holdfast } from '../client/index.ts'
import { type OutputFlags, printShort } from './output.ts'

const FIELDS = [
  'uuid',
  'name',
  'state',
  'node',
  'node_uuid',
  'resource_class',
  'traits',
  'candidate_nodes',
  'owner',
  'expires_at',
  'wait_until',
  'note',
  'extra',
  'last_error',
]

/** People also read the name of its node. */
export async function printAllocation(server: Holdfast, allocation: Allocation, flags: OutputFlags): Promise<void> {
  const isForPeople = flags.format === 'table' && !flags.column
  const node = isForPeople && allocation.node_uuid !== null ? await nameOf(server, allocation.node_uuid) : null
  printShort(node === null ? allocation : { ...allocation, node }, FIELDS, flags)
}

/** null for those who may not see the node. */
async function nameOf({ nodes }: Holdfast, uuid: string): Promise<string | null> {
  try {
    return (await nodes.show(uuid, ['name'])).name
  } catch {
    return null
  }
}
