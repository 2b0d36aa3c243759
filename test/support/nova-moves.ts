// Moves of servers of the test Nova: while one is under way, its migration is a consumer of its own.
import { randomUUID } from 'node:crypto'
import { type Answer, type Body, noPolicy, type NovaRequest, Refusal, wrongState } from './nova-answers.ts'
import { flavorOf } from './nova-flavors.ts'
import { confirmOnSource, remove, unconfirmed } from './nova-removal.ts'
import { copyOf, type Flavor, type Migration, type Server, serverOf, timeOf, type VmState } from './nova-rows.ts'
import { moveClaims, NoValidHost, release, schedule } from './nova-scheduler.ts'
import type { TestNova } from './nova.ts'

type Action = (nova: TestNova, server: Server, given: Body, request: NovaRequest) => Answer | Promise<Answer>

const ACCEPTED: Answer = { status: 202 }

const ACTIONS: Record<string, { admin?: string; do: Action }> = {
  migrate: { admin: 'os_compute_api:os-migrate-server:migrate', do: migrate },
  resize: { do: resize },
  confirmResize: { do: confirm },
  revertResize: { do: revert },
  evacuate: { admin: 'os_compute_api:os-evacuate', do: evacuate },
  'os-migrateLive': { admin: 'os_compute_api:os-migrate-server:migrate_live', do: migrateLive },
  'os-resetState': { admin: 'os_compute_api:os-admin-actions:reset_state', do: reset },
  'os-start': { do: start },
  'os-stop': { do: stop },
  lock: { do: lock },
  unlock: { do: lock },
  forceDelete: { do: forceDelete },
}

export async function actOnServer(nova: TestNova, request: NovaRequest): Promise<Answer> {
  const [[verb, given] = ['']] = Object.entries((request.body ?? {}) as Record<string, Body>)
  const action = Object.hasOwn(ACTIONS, verb) ? ACTIONS[verb] : undefined
  if (!action) throw new Refusal(400, `There is no such action: ${verb}. Verify the provided parameters.`)
  const server = serverOf(nova, request.parts[0]!, request.caller)
  if (action.admin && !request.caller.isAdmin) throw noPolicy(action.admin)
  if (server.isLocked && !request.caller.isAdmin && verb !== 'unlock') {
    throw new Refusal(409, `Instance ${server.id} is locked`)
  }
  return action.do(nova, server, given, request)
}

function requireState(verb: string, { id, state, task }: Server, allowed: readonly VmState[]): void {
  if (!allowed.includes(state)) throw wrongState(verb, id, 'vm_state', state)
  if (task !== null) throw wrongState(verb, id, 'task_state', task)
}

function begin(
  nova: TestNova,
  server: Server,
  type: Migration['type'],
  status: string,
  newFlavor = server.flavor,
): Migration {
  const move: Migration = {
    id: nova.migrations.length + 1,
    uuid: randomUUID(),
    server,
    type,
    status,
    source: server.host!,
    target: null,
    oldFlavor: server.flavor,
    newFlavor,
    oldState: server.state,
    created: new Date(),
  }
  nova.migrations.push(move)
  return move
}

function migrate(nova: TestNova, server: Server): Answer {
  requireState('migrate', server, ['active', 'stopped'])
  return coldMove(nova, server, begin(nova, server, 'migration', 'pre-migrating'))
}

function resize(nova: TestNova, server: Server, given: Body, { caller }: NovaRequest): Answer {
  let flavor: Flavor
  try {
    flavor = copyOf(flavorOf(nova, String(given?.flavorRef), caller))
  } catch (error) {
    throw new Refusal(400, (error as Error).message)
  }
  if (flavor.id === server.flavor.id) throw new Refusal(400, 'When resizing, instances must change flavor!')
  requireState('resize', server, ['active', 'stopped'])
  return coldMove(nova, server, begin(nova, server, 'resize', 'pre-migrating', flavor))
}

function coldMove(nova: TestNova, server: Server, move: Migration): Answer {
  nova.set(server, { task: 'resize_prep' })
  nova.run(async () => {
    try {
      if (!(await moveClaims(nova.holdfast, server.id, move.uuid))) {
        throw new NoValidHost('Unable to replace instance claim on source')
      }
      const target = await schedule(nova, server, move.newFlavor, { without: [move.source] }).catch(async error => {
        await moveClaims(nova.holdfast, move.uuid, server.id)
        throw error
      })
      move.target = target.name
      // Each does its part when the one before it has.
      const source = nova.hosts.get(move.source)!
      const finish = async () => {
        if (!nova.servers.has(server.id)) return
        move.status = 'finished'
        nova.set(server, { state: 'resized', task: null, host: target.name, flavor: move.newFlavor })
      }
      await target.send(async () => nova.run(() => source.send(async () => nova.run(() => target.send(finish)))))
    } catch (error) {
      move.status = 'error'
      nova.set(server, { task: null, fault: { code: 400, message: (error as Error).message } })
    }
  })
  return ACCEPTED
}

function confirm(nova: TestNova, server: Server): Answer {
  const move = requireMoved(nova, server, 'confirmResize')
  move.status = 'confirming'
  nova.run(() => nova.hosts.get(move.source)!.send(() => confirmOnSource(nova, move)))
  return { status: 204 }
}

function revert(nova: TestNova, server: Server): Answer {
  const move = requireMoved(nova, server, 'revertResize')
  move.status = 'reverting'
  nova.set(server, { task: 'resize_reverting' })
  const source = nova.hosts.get(move.source)!
  const finish = async () => {
    await moveClaims(nova.holdfast, move.uuid, server.id)
    move.status = 'reverted'
    nova.set(server, { state: move.oldState, task: null, host: move.source, flavor: move.oldFlavor })
  }
  nova.run(() => nova.hosts.get(move.target!)!.send(async () => nova.run(() => source.send(finish))))
  return ACCEPTED
}

function requireMoved(nova: TestNova, server: Server, verb: string): Migration {
  if (server.state !== 'resized') throw wrongState(verb, server.id, 'vm_state', server.state)
  const move = unconfirmed(nova, server)
  if (move?.status !== 'finished') throw new Refusal(400, 'Instance has not been resized.')
  return move
}

function evacuate(nova: TestNova, server: Server, given: Body): Answer {
  if (!['active', 'stopped', 'error'].includes(server.state)) {
    throw wrongState('evacuate', server.id, 'vm_state', server.state)
  }
  if (nova.hosts.get(server.host ?? '')?.isUp) {
    throw new Refusal(400, `Compute service of ${server.host} is still in use.`)
  }
  const move = begin(nova, server, 'evacuation', 'accepted')
  nova.set(server, { task: 'rebuilding' })
  nova.run(async () => {
    try {
      const only = given?.host ?? null
      const target = await schedule(nova, server, server.flavor, { without: [move.source], only })
      move.target = target.name
      await target.send(async () => {
        move.status = 'done'
        const state = move.oldState === 'stopped' ? 'stopped' : 'active'
        nova.set(server, { state, task: null, host: target.name })
      })
    } catch (error) {
      move.status = 'error'
      nova.set(server, { state: 'error', task: null, fault: { code: 500, message: (error as Error).message } })
    }
  })
  return { status: 200, body: { adminPass: 'secret-word' } }
}

function migrateLive(nova: TestNova, server: Server, given: Body): Answer {
  requireState('os-migrateLive', server, ['active'])
  const move = begin(nova, server, 'live-migration', 'accepted')
  nova.set(server, { task: 'migrating' })
  nova.run(async () => {
    try {
      await moveClaims(nova.holdfast, server.id, move.uuid)
      const only = given?.host ?? null
      const target = await schedule(nova, server, server.flavor, { without: [move.source], only }).catch(
        async error => {
          await moveClaims(nova.holdfast, move.uuid, server.id)
          throw error
        },
      )
      move.target = target.name
      await nova.hosts.get(move.source)!.send(async () => {
        await release(nova.holdfast, move.uuid)
        move.status = 'completed'
        nova.set(server, { task: null, host: target.name })
      })
    } catch (error) {
      move.status = 'error'
      nova.set(server, { task: null, fault: { code: 400, message: (error as Error).message } })
    }
  })
  return ACCEPTED
}

function reset(nova: TestNova, server: Server, given: Body): Answer {
  if (given?.state !== 'active' && given?.state !== 'error') {
    throw new Refusal(400, `Invalid input for field/attribute state. Value: ${given?.state}.`)
  }
  nova.set(server, { state: given.state, task: null })
  return ACCEPTED
}

function start(nova: TestNova, server: Server): Answer {
  requireState('start', server, ['stopped'])
  return power(nova, server, 'active', 'powering-on')
}

function stop(nova: TestNova, server: Server): Answer {
  requireState('stop', server, ['active', 'error'])
  return power(nova, server, 'stopped', 'powering-off')
}

function power(nova: TestNova, server: Server, state: VmState, task: string): Answer {
  nova.set(server, { task })
  nova.run(() => nova.hosts.get(server.host!)!.send(async () => nova.set(server, { state, task: null })))
  return ACCEPTED
}

function lock(nova: TestNova, server: Server, _: Body, { body }: NovaRequest): Answer {
  nova.set(server, { isLocked: 'lock' in body })
  return ACCEPTED
}

async function forceDelete(nova: TestNova, server: Server, _: Body, { caller }: NovaRequest): Promise<Answer> {
  await remove(nova, server, caller)
  return ACCEPTED
}

const FILTERS = new Set([
  'host',
  'status',
  'source_compute',
  'migration_type',
  'instance_uuid',
  'changes-since',
  'limit',
  'marker',
])

export function listMigrations({ migrations }: TestNova, { query, caller, version }: NovaRequest): Answer {
  if (!caller.isAdmin) throw noPolicy('os_compute_api:os-migrations:index')
  const unknown = [...query.keys()].find(key => !FILTERS.has(key))
  if (unknown && version >= 59) {
    throw new Refusal(400, `Invalid input for query parameters ${unknown}. Additional properties are not allowed`)
  }
  const isWanted = (name: string, ...values: (string | null)[]) => !query.has(name) || values.includes(query.get(name))
  const rows = migrations.filter(
    move =>
      isWanted('host', move.source, move.target) &&
      isWanted('status', move.status) &&
      isWanted('source_compute', move.source) &&
      isWanted('migration_type', move.type) &&
      isWanted('instance_uuid', move.server.id),
  )
  const limit = Number(query.get('limit') ?? 1000)
  const shown = rows
    .toReversed()
    .slice(0, limit)
    .map(move => ({
      id: move.id,
      instance_uuid: move.server.id,
      status: move.status,
      source_compute: move.source,
      source_node: move.source,
      dest_compute: move.target,
      dest_node: move.target,
      dest_host: null,
      old_instance_type_id: 1,
      new_instance_type_id: move.newFlavor === move.oldFlavor ? 1 : 2,
      created_at: timeOf(move.created),
      updated_at: timeOf(move.created),
      ...(version >= 23 && { migration_type: move.type }),
      ...(version >= 59 && { uuid: move.uuid }),
      ...(version >= 80 && { user_id: move.server.user, project_id: move.server.project }),
    }))
  return { status: 200, body: { migrations: shown } }
}
