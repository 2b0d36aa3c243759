// What became of a node, from its row before and after a change. Names of fields may be told, their values mostly not:
// some are secret, and some are large.
import { someOf, subject, textIn } from '../../events/subject.ts'
import {
  powerFailed,
  powerChanged,
  powerAsked,
  maintenanceChanged,
  stateChanged,
  driverChanged,
  traitsLine,
  enrolled,
} from '../history/lines.ts'
import { SETTABLE } from '../../shared/node-fields.ts'
import type { Subject, Whose } from '../../store/transaction.ts'
import type { NodeRow } from './rows.ts'

/** Columns whose changes have no word of their own. */
const FIELDS: readonly (keyof NodeRow)[] = [
  ...SETTABLE.filter(name => name !== 'maintenance' && name !== 'uuid' && name !== 'chassis_uuid').filter(
    (name): name is Exclude<typeof name, `${string}_interface`> => !name.endsWith('_interface'),
  ),
  'interfaces',
  'chassis_id',
]

/** How events about other objects name a node. */
export const nameOf = ({ uuid, name }: Pick<NodeRow, 'uuid' | 'name'>) => ({ uuid, name })

/** Who may see a node. */
const whoseNode = ({ owner, lessee }: Pick<NodeRow, 'owner' | 'lessee'>): Whose => ({ owner, lessee })

export const nodeCreated = (node: Omit<NodeRow, 'id'>): Subject => {
  const { uuid, name, resource_class, provision_state } = node
  return subject('node', uuid, 'created', {
    whose: whoseNode(node),
    data: { name, resource_class, provision_state },
    history: enrolled(node),
  })
}

export const nodeDeleted = (node: NodeRow): Subject =>
  subject('node', node.uuid, 'deleted', { whose: whoseNode(node), data: { name: node.name } })

export function traitsChanged(node: NodeRow, before: readonly string[], after: readonly string[]): Subject {
  const added = someOf(after.filter(name => !before.includes(name)))
  const removed = someOf(before.filter(name => !after.includes(name)))
  return subject('node', node.uuid, 'traits', {
    whose: whoseNode(node),
    data: { name: node.name, added, removed },
    history: traitsLine(node, added, removed),
  })
}

export function whatBecame(before: NodeRow, after: NodeRow): Subject[] {
  const { uuid, name } = after
  const whose = whoseNode(after)
  const found: Subject[] = []
  const fields = FIELDS.filter(field => after[field] !== before[field])
  if (fields.length > 0) {
    const instance = fields.includes('instance_uuid') ? { instance_uuid: after.instance_uuid } : {}
    const history = fields.includes('driver') ? { history: driverChanged(before, after) } : {}
    found.push(subject('node', uuid, 'changed', { whose, data: { name, fields, ...instance }, ...history }))
  }
  if (after.provision_state !== before.provision_state) {
    const [from, to, target] = [before.provision_state, after.provision_state, after.target_provision_state]
    const reason = textIn(after.last_error)
    const history = stateChanged(before, after)
    found.push(subject('node', uuid, 'provision_state', { whose, data: { name, from, to, target, reason }, history }))
  }
  if (after.power_state !== before.power_state) {
    const [from, to] = [before.power_state, after.power_state]
    found.push(
      subject('node', uuid, 'power_state', { whose, data: { name, from, to }, history: powerChanged(before, after) }),
    )
  }
  if (after.maintenance !== before.maintenance || after.maintenance_reason !== before.maintenance_reason) {
    const data = { name, maintenance: after.maintenance === 1, reason: textIn(after.maintenance_reason) }
    found.push(subject('node', uuid, 'maintenance', { whose, data, history: maintenanceChanged(before, after) }))
  }
  for (const history of [powerAsked(before, after), powerFailed(before, after)]) {
    if (history) found.push({ kind: 'node', id: uuid, history })
  }
  // Nothing that anyone is told of, such as a lock.
  return found.length > 0 ? found : [{ kind: 'node', id: uuid }]
}
