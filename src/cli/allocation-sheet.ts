// What matters of an allocation, for whoever has just asked for it.
import type { Allocation } from '../client/index.ts'
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
  'who',
  'project',
  'expires_at',
  'wait_until',
  'note',
  'extra',
  'last_error',
]

/** People read names: of its node, of who asked for it, and of the project. */
export function printAllocation(allocation: Allocation, flags: OutputFlags): void {
  const { node_name: node, user_name: who, project_name: project } = allocation
  const isForPeople = flags.format === 'table' && !flags.column
  printShort(isForPeople ? { ...allocation, node, who, project } : allocation, FIELDS, flags)
}
