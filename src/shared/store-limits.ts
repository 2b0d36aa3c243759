// The limits of databases and their schema, each with its reason.

export const storeLimits = {
  // Past eight connections only the queue in front of the database grows.
  poolConnectionsMax: 8,
  // The share of these for reads, at least one. Loading memory takes three, so one of four is left.
  readShare: 1 / 2,
  // For the feed, and for nudges and questions meanwhile.
  ownConnections: 2,
  poolWaitersMax: 4_096,
  // The wait for a connection that others give back: a few of them may wait for a lock, one after another.
  poolWaitMsMax: 10_000,
  // For opening a connection. A server that is down refuses at once; a silent one must not hold us up after it is back.
  connectMsMax: 2_000,
  // How often all hosts of the database are looked at: a promotion is found in time although the old primary lives on.
  hostSurveyMs: 5_000,
  // Promotions that a connection reads the names of: more than happen while a process has no connection.
  erasReadMax: 100,
  // If a connection in use receives nothing for this long, another one checks on it. Most statements take milliseconds.
  silenceMs: 1_000,
  // TCP keep-alive: after this long without traffic, the machines check that both are there.
  keepAliveMs: 10_000,
  // For closing connections to a database that may not answer.
  closeMsMax: 2_000,
  // How long to ask for the outcome of a commit whose answer was lost: longer than idleInTransactionMsMax.
  outcomeMsMax: 5_000,
  outcomeAskMs: 100,
  statementMsMax: 30_000,
  // PostgreSQL keeps plans that were made for older table sizes. Making all of them anew takes about 20 ms.
  planMsMax: 5_000,
  // The wait for a row that another transaction has locked. Ours take milliseconds; a longer wait is for an operator's
  // session. Only `patientWritesMax` writes wait longer, so that the others find a connection.
  lockWaitMs: 1_000,
  lockWaitMsMax: 10_000,
  patientWritesMax: 2,
  // Our transactions wait only for the database. One that is idle for this long belongs to a stopped process, and the
  // process that takes over needs the rows that it holds.
  idleInTransactionMsMax: 2_000,
  // Loading memory holds no rows, so nobody waits for it, and between two pages the process may have much else to do. A
  // million providers take a minute on a busy machine, a statement of it seconds.
  loadIdleMsMax: 60_000,
  loadStatementMsMax: 300_000,
  // A conflict that persists after this many attempts is answered with 503.
  writeAttemptsMax: 8,

  // Well under the 0.1 s that a copy in memory may be behind when notifications are lost.
  feedPollMs: 50,
  // A process that could not read the feed for this long loads everything again.
  feedKeepMs: 10 * 60_000,
  feedPruneMs: 60_000,

  // A migration beside running processes may meet a deadlock. Each attempt takes a second at most until one side gives way.
  migrationAttemptsMax: 20,
  migrationRetryMs: 100,
  // /readyz compares the schema again after this. It takes PostgreSQL about ten milliseconds, for each process.
  schemaLookMs: 30_000,
  // Faults of the schema that one line names; a restore that was interrupted leaves hundreds.
  schemaFaultsSaid: 5,
  // And that fsck lists, with what is wrong with each.
  schemaFaultsListed: 100,

  // How often a thread copies the log into the file while clients write.
  walCheckpointMs: 500,
  // If the log has more pages by then, 80 MB, writers wait until it is copied to its end, and it is written over.
  walCheckpointPages: 20_000,
  // If it has this many all the same, 400 MB, whoever commits copies it, and everyone waits.
  walPagesMax: 100_000,
  // Soon after a load all is in the file, so that it can be opened quickly.
  walIdleCheckpointMs: 2_000,
  // The log stays to be written over, because commits that make it grow cost half as much again. It is cut down to this
  // when it was larger.
  walPagesKept: 20_000,
  // How long a write waits for an outside writer; longer than a backup tool's transactions, shorter than a client's patience.
  busyMsMax: 2_000,
  // How often it retries meanwhile. A try takes microseconds, and other requests are answered in between.
  busyRetryMs: 10,
  // A readiness check makes a test commit, but not more often than this.
  writeProofMs: 500,
  // When memory could not apply a commit, it tries again after this.
  absorbRetryMs: 200,
  // The hot pages of a few million claims; the default of 2 MB spills in the middle of a busy commit.
  sqliteCacheKib: 64 * 1024,

  // How often a process that began on a full disk tries to begin its work. A try is one commit.
  startRetryMs: 1_000,
} as const
