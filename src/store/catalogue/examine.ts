// Compares the schema of a database that lacks no migration with what the migrations make.
import type { Dialect } from '../statement.ts'
import type { Read } from '../transaction.ts'
import { reportOn, type SchemaReport } from './compare.ts'
import { expectedOf } from './expected.ts'
import { readCatalogue } from './read.ts'

export function* examineSchema(dialect: Dialect): Read<SchemaReport> {
  return reportOn(expectedOf(dialect), yield* readCatalogue())
}
