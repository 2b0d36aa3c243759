// GET /holdfast/v1/status/NAME: all about one machine, and what the caller may do with it.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { listPorts } from '../../metal/ports.ts'
import { problem } from '../../problems/problem.ts'
import { MEMBERS, shownIn } from '../../shared/json.ts'
import { historyOf, propertiesOf } from '../../status/history.ts'
import { isNoone } from '../../status/machine.ts'
import { machineOf, timeOf } from '../../status/shown.ts'
import { verbsIn } from '../../status/verbs.ts'
import { sees } from '../event-rights.ts'
import type { Operation } from '../operation.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { headOf, spansOn } from './status-texts.ts'
import { StatusRights } from './status-rights.ts'
import { MachineInFull } from './status-shapes.ts'

getMachine.operation = {
  summary: 'Say all about one machine, by its name or uuid',
  description: 'verbs lists every verb, whether the caller may use it now, and why not.',
  answers: { 200: MachineInFull },
} satisfies Operation

const EVER = { isMine: false, window: { from: -Infinity, to: Infinity } }

export async function getMachine(request: OperatorRequest): Promise<Answer> {
  const { board, store, policy } = request.context
  const ident = request.param('ident')
  const rights = new StatusRights(request)
  const sequence = await board.fresh()
  const entry = board.entryOf(canonicalUuid(ident) ?? ident)
  const relation = entry ? rights.relationOf(entry) : null
  if (!entry || relation === null) throw problem('metal_not_found', { what: 'Node', name: ident })
  const { node } = entry.row.source
  const situation = board.situation(entry.situation)
  const { traits } = entry.row.source
  const machine = {
    ...machineOf(entry.row, rights.sight, board.names, name => traits.indexOf(name)),
    mine: rights.isMine(relation),
    may: rights.mayWith(situation, relation),
  }
  const maySeePorts = request.may('baremetal:port:get', { owner: node.owner, lessee: node.lessee })
  const { properties, ports, events } = await store.read(function* () {
    return {
      properties: yield* propertiesOf(node.id),
      ports: maySeePorts ? yield* listPorts({ all: 1, project: null }, { node: node.id }) : [],
      events: yield* historyOf(node),
    }
  })
  const whose = { owner: node.owner, lessee: node.lessee }
  const [seesNotes, seesOutput] = [
    request.may('baremetal:node:history:get', whose),
    request.may('baremetal:node:get:driver_info', whose),
  ]
  const isNote = (what: string) => what === 'node hook' || what === 'node take-over'
  const { seesAll, project: own } = rights.sight
  const called = (id: string | null, name: (id: string) => string) => (id === null || isNoone(id) ? null : name(id))
  // Of other projects no names, although they did something to this machine.
  const isKnown = (project: string | null) => seesAll || (project !== null && project === own)
  const body = {
    ...headOf(request, sequence),
    traits,
    machine,
    ports: ports.map(({ uuid, address, name, physical_network }) => ({ uuid, address, name, physical_network })),
    hardware: properties === null ? {} : shownIn(properties, MEMBERS),
    verbs: verbsIn(situation).map(([verb, whyNot]) => {
      const isAllowed = rights.mayUse(verb, relation)
      const why_not = isAllowed ? whyNot : 'You may not.'
      return { verb, may: why_not === null, why_not }
    }),
    spans: spansOn(entry, relation, rights, board.names, EVER),
    history: events
      .filter(event => (isNote(event.what) ? seesNotes : sees(policy, request.caller, event)))
      .map(({ at, what, to, name, user, project, request, reason, output }) => ({
        at: timeOf(at),
        what,
        to,
        name,
        who: isKnown(project) ? called(user, id => board.names.user(id)) : null,
        project: isKnown(project) ? called(project, id => board.names.project(id)) : null,
        request: isKnown(project) ? request : null,
        reason,
        output: seesOutput ? output : null,
      })),
  }
  return { status: 200, body, headers: { 'cache-control': 'no-store' } }
}
