// /os-migrations: moves of servers, which Nova calls migrations.
import { Type } from 'typebox'
import { listMoves, type Move } from '../../compute/move-rows.ts'
import type { Form, Operation } from '../operation.ts'
import { Count, named, orNull, Text, TextOrNull } from '../shapes.ts'
import { ShownRecordTime, shownRecordTime } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'

const shown = (move: Move) => ({
  id: move.id,
  instance_uuid: move.server,
  status: move.status,
  source_compute: move.source,
  source_node: move.source,
  dest_compute: move.target,
  dest_node: move.target,
  dest_host: null,
  old_instance_type_id: move.flavor_before,
  new_instance_type_id: move.flavor_after,
  created_at: shownRecordTime(move.created_at),
  updated_at: shownRecordTime(move.updated_at),
})

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
  return { status: 200, body: { migrations: found.map(shown) } }
}
