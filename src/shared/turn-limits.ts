// The limits of turns: how long one project's work may hold up another's.
//
// The aim, while others ask for as much as they can: at the 99th percentile a quiet project's reads take at most three
// times as long as alone, and its writes five times. docs/PERFORMANCE.md says where that is missed. It waits for what is under way, and for one of each other
// project that waits, wherever it has to wait: for the event loop, a commit, a connection, a batch.

export const turnLimits = {
  // Work in one turn of the event loop before sockets are read again: ten short requests. Reading them costs some µs.
  loopTurnMs: 1,
  // Who has come to a line within this time may come again soon.
  lineSharedMs: 1_000,
  // Transactions that share one commit on SQLite.
  groupCommitMax: 64,
  // While several projects write, a commit ends after so much work, so that who comes next waits for no more. One project
  // alone has as many in a commit as come.
  groupCommitSharedMs: 5,
  // Allocations that one transaction gives their nodes.
  allocationBatchMax: 64,
  // While several projects ask: some milliseconds of work. One project alone has as many in a batch as come.
  allocationBatchShared: 8,
} as const
