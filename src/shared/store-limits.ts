// The limits of databases and their schema.

export const storeLimits = {
  // A migration beside running processes may meet a deadlock. Each attempt takes a second at most until one side gives way.
  migrationAttemptsMax: 20,
  migrationRetryMs: 100,
  // /readyz compares the schema again after this. It takes PostgreSQL about ten milliseconds, for each process.
  schemaLookMs: 30_000,
  // Faults of the schema that one line names; a restore that was interrupted leaves hundreds.
  schemaFaultsSaid: 5,
  // And that fsck lists, with what is wrong with each.
  schemaFaultsListed: 100,
} as const
