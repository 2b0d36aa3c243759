// Lists that clients ask for and that are always empty here: aggregates, server groups, key pairs, extensions.
import type { Operation } from '../operation.ts'
import type { Answer } from './request.ts'
import { Type } from '../../shared/type.ts'

const Nothing = Type.Array(Type.Unknown(), { maxItems: 0 })

function emptyList(id: string, name: string, what: string) {
  const operation: Operation = {
    id,
    summary: `List the ${what}: there are none`,
    answers: { 200: Type.Object({ [name]: Nothing }) },
  }
  return Object.assign((): Answer => ({ status: 200, body: { [name]: [] } }), { operation })
}

export const listAggregates = emptyList('listAggregates', 'aggregates', 'host aggregates')
export const listServerGroups = emptyList('listServerGroups', 'server_groups', 'server groups')
export const listKeypairs = emptyList('listKeypairs', 'keypairs', 'key pairs')
export const listExtensions = emptyList('listExtensions', 'extensions', 'extensions')
