// /os-migrations: moves of servers, which Nova calls migrations.
import { listMoves, type Move } from '../../compute/move-rows.ts'
import { findServer } from '../../compute/servers.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { Count, from, Links, named, oneOf, orNull, Text, TextOrNull } from '../shapes.ts'
import { linksTo, ShownRecordTime, shownRecordTime } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

/** What both kinds of lists say of a move. */
const way = (move: Move) => ({
  id: move.id,
  status: move.status,
  source_compute: move.source,
  source_node: move.source,
  dest_compute: move.target,
  dest_node: move.target,
  dest_host: null,
  created_at: shownRecordTime(move.created_at),
  updated_at: shownRecordTime(move.updated_at),
})

const shown = (move: Move, request: ComputeRequest) => ({
  ...way(move),
  instance_uuid: move.server,
  old_instance_type_id: move.flavor_before,
  new_instance_type_id: move.flavor_after,
  ...(request.has.moveTypes && {
    migration_type: move.kind,
    ...(isUnderWay(move) && { links: linksTo(request, `servers/${move.server}/migrations/${move.id}`) }),
  }),
})

/** As upstream, only a live migration can be followed. */
const isUnderWay = ({ kind, status }: Move) => kind === 'live-migration' && status === 'running'

const Shown = named('Migration', {
  id: Count,
  instance_uuid: Text,
  status: Text,
  source_compute: TextOrNull,
  source_node: TextOrNull,
  dest_compute: TextOrNull,
  dest_node: TextOrNull,
  dest_host: Type.Null(),
  old_instance_type_id: Text,
  new_instance_type_id: Text,
  created_at: ShownRecordTime,
  updated_at: orNull(ShownRecordTime),
  migration_type: from(since('moveTypes'), oneOf('migration', 'resize', 'live-migration', 'evacuation')),
  links: Type.Optional(from(since('moveTypes'), Links)),
})
const PARAMETERS: Form = {
  schema: Type.Object({
    status: Type.Optional(Text),
    host: Type.Optional(Text),
    instance_uuid: Type.Optional(Text),
  }),
}

listMigrations.operation = {
  summary: 'List the moves of servers',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ migrations: Type.Array(Shown) }) },
} satisfies Operation

export async function listMigrations(request: ComputeRequest): Promise<Answer> {
  const [status, host, server] = ['status', 'host', 'instance_uuid'].map(name => request.parameter(name))
  const moves = await request.context.store.read(() => listMoves(server ?? null))
  const found = moves.filter(
    move =>
      (status === null || move.status === status) && (host === null || move.source === host || move.target === host),
  )
  return { status: 200, body: { migrations: found.map(move => shown(move, request)) } }
}

/** There is nothing to copy, so nothing is measured. */
const UNKNOWN = Object.fromEntries(
  ['memory', 'disk'].flatMap(of => ['total', 'processed', 'remaining'].map(part => [`${of}_${part}_bytes`, null])),
)

const ofServer = (move: Move) => ({ ...way(move), server_uuid: move.server, ...UNKNOWN })

const OfServer = named('MigrationOfServer', {
  id: Count,
  server_uuid: Text,
  status: Text,
  source_compute: TextOrNull,
  source_node: TextOrNull,
  dest_compute: TextOrNull,
  dest_node: TextOrNull,
  dest_host: Type.Null(),
  created_at: ShownRecordTime,
  updated_at: orNull(ShownRecordTime),
  ...Object.fromEntries(Object.keys(UNKNOWN).map(name => [name, Type.Null()])),
})

/** The live migrations of the server in the path that are under way. */
const underWay = (request: ComputeRequest): Promise<Move[]> =>
  request.context.store.read(function* () {
    const { uuid } = yield* findServer(request.param('id'), request.visible)
    return (yield* listMoves(uuid)).filter(isUnderWay)
  })

listMovesOfServer.operation = {
  summary: 'List the live migrations of a server that are under way',
  answers: { 200: Type.Object({ migrations: Type.Array(OfServer) }) },
} satisfies Operation

export async function listMovesOfServer(request: ComputeRequest): Promise<Answer> {
  return { status: 200, body: { migrations: (await underWay(request)).map(ofServer) } }
}

showMoveOfServer.operation = {
  summary: 'Show a live migration of a server that is under way',
  answers: { 200: Type.Object({ migration: OfServer }) },
} satisfies Operation

export async function showMoveOfServer(request: ComputeRequest): Promise<Answer> {
  const id = request.param('move')
  const found = (await underWay(request)).find(move => String(move.id) === id)
  if (!found) throw problem('move_not_found', { server: request.param('id'), move: id.slice(0, 100) })
  return { status: 200, body: { migration: ofServer(found) } }
}
