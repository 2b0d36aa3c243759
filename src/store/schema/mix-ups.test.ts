// The compiler checks this file, and running it does nothing: none of these mix-ups may compile.
import type { Kysely, Selectable } from 'kysely'
import type { CandidateTable } from '../../ledger/candidates/table.ts'
import { type Json, jsonIn } from '../../shared/json.ts'
import type { Change } from '../change.ts'
import type { Schema } from '../schema.ts'

type Node = Selectable<Schema['nodes']>
type Claim = Selectable<Schema['claims']>
type Server = Selectable<Schema['servers']>

// @ts-expect-error -- what changed is a provider, and a node's id is not its provider's
void ((node: Node): Change => ({ provider: node.id }))

// @ts-expect-error -- a class is not a trait
void ((db: Kysely<Schema>, claim: Claim) => db.selectFrom('traits').where('id', '=', claim.class_id))

// @ts-expect-error -- a server's host is a provider, not a node
void ((server: Server, node: Node): Server => ({ ...server, host_id: node.id }))

// @ts-expect-error -- a place in the table is not an id
void ((table: CandidateTable, uuid: string) => table.remove(table.rowOfUuid(uuid)))

// @ts-expect-error -- and an id is not a place
void ((table: CandidateTable, node: Node) => table.parentRow(node.provider_id))

// @ts-expect-error -- nor is any other number an id
void ((table: CandidateTable, node: Node) => table.rowOfId(node.revision))

// @ts-expect-error -- a word that is no state
void ((node: Node): Node => ({ ...node, provision_state: 'avaliable' }))

// @ts-expect-error -- traits are in this column, not members
void ((allocation: Selectable<Schema['allocations']>): Json => jsonIn(allocation.traits))

// @ts-expect-error -- and any other text is not JSON
void ((node: Node): Node => ({ ...node, extra: node.uuid }))
