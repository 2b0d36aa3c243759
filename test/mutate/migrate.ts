// Migrates a database in a process that has the mutant.
import './hook.ts'

const { migrateDatabase } = await import('../support/templates.ts')
await migrateDatabase(process.argv[2]!)
