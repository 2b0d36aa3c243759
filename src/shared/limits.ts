// A limit on everything, each with its reason.

export const limits = {
  // More than any honest body outside of the bulk routes: a server with its user data is 64 KiB and a little.
  bodyBytesMax: 256 * 1024,
  // A POST of 1,000 consumers is about 400 kB; a reshape of a large tree about 1 MB; a node has five documents of 256 KiB.
  bulkBodyBytesMax: 4 * 1024 * 1024,
  // All bodies that are being read or worked on: sixteen of the largest, and a small part of a small machine's memory.
  bodiesBytesMax: 64 * 1024 * 1024,
  // Ten times what a reshape of a large tree holds; parsing that many takes some 20 ms, for which all others wait.
  jsonElementsMax: 250_000,
  // Requests in flight: more than all honest clients of a large site have at once, and few enough to fit in memory.
  requestsMax: 1_024,
  // Of one project or address, once half of all are taken: an OpenStack with 64 workers doesn't come near it.
  requestSharePercent: 25,
  // What is refused because too much is in flight may be tried again after this.
  crowdedRetrySeconds: 1,
  // 100 traits of 255 characters in one candidates query still fit.
  urlBytesMax: 32 * 1024,
  headerBytesMax: 48 * 1024,
  // A request whose headers or body dribble in longer than this is cut off.
  requestMsMax: 30_000,
  // How often that is looked after.
  requestCheckMs: 2_000,
  // Long enough for the answer to a broken request to be read; then the socket is gone, whatever its other end does.
  brokenLingerMs: 500,
  // Longer than the slowest honest request, shorter than an orchestrator's patience with SIGTERM.
  drainMsMax: 8_000,
  // What still holds the process after all was stopped isn't waited for.
  exitMsMax: 500,
  // Requests slower than this are logged.
  slowRequestMs: 1_000,
  // Lines of the log that could not be written yet; about a minute of a server whose disk is full.
  logBytesKept: 1024 * 1024,
  // What there is gets counted for the metrics at most this often, and between two counts lies at least a hundred times
  // what the last one took: a hundredth of the time, however much there is.
  censusMs: 10_000,
  censusRest: 100,
  // Whoever scrapes has ten seconds; without a database the other metrics come after this one.
  censusWaitMs: 1_000,
  // An older count is not told any more.
  censusKeepMs: 60_000,

  // Past 64 claims a commit the gain is under 10 %, and latency keeps growing.
  claimBatchMax: 64,
  // A batch ends early when its requests name this many claims, so that a few huge ones don't hold up the rest.
  claimBatchRowsMax: 2_000,
  // A batch waits this long for a locked row: some twenty batches of other processes. Then those who need it are set aside,
  // and tried again after a pause, and the others go on.
  claimLockMs: 250,
  claimPauseMs: 100,
  // About a second of work; more waiting than that is better told to come back.
  claimQueueMax: 16_384,
  // Transactions that share one commit on SQLite.
  groupCommitMax: 64,

  // Past eight connections only the queue in front of the database grows.
  poolConnectionsMax: 8,
  // Of these for reads, at least one: also while memory is loaded, which takes three, there is one left.
  readShare: 1 / 2,
  // For the feed, and for what is asked and told meanwhile.
  ownConnections: 2,
  poolWaitersMax: 4_096,
  // For a connection that others give back: a few of them may wait for a lock, one after another.
  poolWaitMsMax: 10_000,
  // For a new connection; a server that is down says so at once, and one that is silent holds up nobody after it is back.
  connectMsMax: 2_000,
  // A connection in use that hears nothing for this long is asked about by another one. Most statements take milliseconds.
  silenceMs: 1_000,
  // When nothing was said on a connection for this long, the machines look whether both are there.
  keepAliveMs: 10_000,
  // For goodbyes to a database that may not hear them.
  closeMsMax: 2_000,
  // A commit whose answer was lost is asked about for this long: more than a transaction can stand still.
  outcomeMsMax: 5_000,
  outcomeAskMs: 100,
  statementMsMax: 30_000,
  // PostgreSQL keeps the plan that it made for a table as it was. Making all of them anew takes some 20 ms.
  planMsMax: 5_000,
  // For a row that another transaction has locked. Ours are done in milliseconds; whoever waits longer than this waits for
  // an operator's session, and only so many do at a time, so that the others find a connection.
  lockWaitMs: 1_000,
  lockWaitMsMax: 10_000,
  patientWritesMax: 2,
  // No transaction waits for anything but the database: one that is silent for this long is a process that was
  // stopped, and the rows that it holds are wanted by those who take over from it.
  idleInTransactionMsMax: 2_000,
  // A conflict that outlives this many fresh starts is answered with 503.
  writeAttemptsMax: 8,

  // A step is a provider looked at, 20 to 200 ns: the worst query ends within seconds and says that it is incomplete.
  searchStepsMax: 5_000_000,
  // Well under ten milliseconds, with the work between two steps, before others get a turn.
  searchStepsPerTurn: 2_000,
  // Candidates × providers in one answer; a million of them are about 200 MB of text.
  searchPicksMax: 1_000_000,
  // Explaining tries many searches; together they may cost this much.
  explainStepsMax: 20_000_000,

  // Well under the tenth of a second that a copy may be behind when notifications are lost.
  feedPollMs: 50,
  // A process that could not read the feed for this long loads everything again.
  feedKeepMs: 10 * 60_000,
  feedPruneMs: 60_000,

  // 64 claims dirty about 250 pages; 20,000 pages are an 80 MB log and the fewest stalls measured.
  walCheckpointPages: 20_000,
  // Long enough not to run under load, short enough that the log of a quiet server is small.
  walIdleCheckpointMs: 2_000,
  // What a load leaves of the log at most; one that an outside reader kept from being emptied is cut down to this.
  walKeepBytes: 80 * 1024 * 1024,
  // How long a write waits for an outside writer; longer than a backup tool's transactions, shorter than a client's patience.
  busyMsMax: 2_000,
  // How often it asks meanwhile. Asking takes microseconds, and between two tries the requests of others are answered.
  busyRetryMs: 10,
  // Whoever asks whether the service is ready asks for a commit, but not oftener than this.
  writeProofMs: 500,
  // When memory could not read what was committed, it tries again.
  absorbRetryMs: 200,
  // The hot pages of a few million claims; the default of 2 MB spills in the middle of a busy commit.
  sqliteCacheKib: 64 * 1024,

  // As many nodes as one answer holds, and what clients have always been given.
  nodePageMax: 1_000,
  // Placement's limit, and so the node's.
  nodeTraitsMax: 50,
  // One JSON field of a node; a thousand nodes of this size still fit in memory.
  nodeJsonBytesMax: 256 * 1024,
  // Deep enough for every honest document, and far from the end of the stack.
  jsonDepthMax: 64,
  patchesMax: 1_000,
  // About 10 kB each with their texts: 100 MB at the most, and twice the largest fleet that this is made for.
  shelvedNodesMax: 10_000,
  // Detail, short row, and two choices of fields.
  textsPerNodeMax: 4,
  // Ways of writing nodes that are kept: versions × fields × hosts × what is hidden.
  nodeWritersMax: 128,
  portsPerNodeMax: 1_000,
  // Transitions that one conductor has under way at once; the rest waits its turn.
  conductorTasksMax: 64,
  // Work comes by nudge; this is for nudges that were lost.
  conductorPollMs: 1_000,
  // The longest that operators may let a dead conductor keep its work.
  takeOverMsMax: 600_000,
  // A conductor that died is listed this long.
  conductorKeepMs: 24 * 60 * 60_000,
  // Allocations in `allocating` at once; more waiting than that is better told to come back.
  allocationsAtWorkMax: 10_000,
  // Allocations that one transaction gives their nodes.
  allocationBatchMax: 64,
  // When the only nodes that would do are being worked on: as often and as far apart as clients have always seen it.
  lockedNodeRetriesMax: 3,
  lockedNodeRetryMs: 1_000,
  candidateNodesMax: 10_000,
  allocationTraitsMax: 50,
  // Ten years: what lies beyond is a mistake.
  futureMsMax: 10 * 366 * 86_400_000,
  // Nodes named for each cause when an allocation found none.
  explainSampleMax: 5,
  // Nodes in the list of one hold; each is looked at in turn.
  reservationNodesMax: 1_000,
  // Holds whose time is over, ended in one transaction; allocations whose time is over, read at once.
  expiryBatchMax: 256,
  // How soon an allocation whose time is over is looked at again while its node can't be torn down.
  expiryRetryMs: 1_000,
  // An hour: longer than any real step, and still an end.
  fakeDelayMsMax: 60 * 60_000,

  // Entries under one seal: hashing them takes about two milliseconds, for which writers wait on SQLite.
  auditSealEntries: 256,
  // What is younger than this may still be unsealed.
  auditSealMs: 1_000,
  // Dropped in one transaction.
  auditPruneSeals: 64,
  // Checked in one transaction: four thousand entries.
  auditCheckSeals: 16,
  auditPageMax: 1_000,
  // A hundred years.
  auditKeepDaysMax: 36_500,

  // Ten thousand users; read whole at each change.
  usersFileBytesMax: 4 * 1024 * 1024,
  // Half of the second that a change may take to be known.
  fileLookMs: 500,
  // Who asks for a token is not known yet, so little is read from them.
  identityBodyBytesMax: 64 * 1024,
  // Longer than any passphrase, shorter than what would be work to hash.
  passwordBytesMax: 4_096,
  // Our own tokens are about 250 characters, and Keystone's no longer.
  tokenLengthMax: 4_096,
  // Tokens in use at once; about 1 kB each.
  keptTokensMax: 10_000,
  // Half of the second after which a token revoked elsewhere is refused here.
  tokenRecheckMs: 500,
  // Clocks of processes on one database are corrected to its own; more than this is no honest difference.
  clockSlackMs: 60_000,
  // Of a name that was tried, in the audit: as long as a name may be, and of what is no name no more.
  loginNameCharsMax: 255,
  // A few slips of the finger a minute, and no dictionary.
  attemptsPerUserMax: 10,
  // A class room behind one address, and no list of names.
  attemptsPerAddressMax: 100,
  attemptsSpanMs: 60_000,
  throttledMax: 20_000,
  // About five seconds of hashing; more waiting than that is better told to come back.
  hashesWaitingMax: 64,
  // The pool has four threads, and files need one.
  hashThreadsMax: 3,
  // A script's next call, not the next day.
  rightPasswordMs: 5 * 60_000,
  rightPasswordsMax: 1_000,
  applicationCredentialsPerUserMax: 100,
  // A validation takes milliseconds, a login on a busy Keystone seconds; one that takes longer than this is away.
  keystoneMsMax: 15_000,
  keystoneRequestsMax: 64,
  // Of these, with tokens that Keystone has not granted before: made up ones leave room for those that are renewed here.
  keystoneStrangersMax: 48,
  // And from one address, so that others' first tokens don't wait behind a flood.
  keystoneStrangersPerAddressMax: 16,
  // Apart from those that hold, so that made up ones don't push them out; up to 4 kB each.
  refusedTokensMax: 1_000,
  // A token that Keystone doesn't know may be on its way between two of its servers.
  keystoneRefusalMs: 2_000,
  // Our own token is replaced this long before it ends.
  keystoneRenewMs: 60_000,

  // Blazar's column, and so what its clients expect.
  leaseNameCharsMax: 80,
  // All reservations of a lease are decided in one transaction.
  leaseReservationsMax: 100,
  // Instances in one reservation: each is a slot to be placed.
  reservationAmountMax: 10_000,
  // Of vcpus, memory_mb, disk_gb, min and max: what the inventories in the ledger can hold.
  reservationSizeMax: 2_147_483_647,
  // Of ids, resource classes and traits in a request, as in the ledger.
  nameCharsMax: 255,
  // A query on hosts, as text.
  propertiesCharsMax: 16 * 1024,
  capabilityNameCharsMax: 64,
  capabilityCharsMax: 4 * 1024,
  capabilitiesPerHostMax: 256,
  // Clocks of machines drift apart by well under a millisecond in this time.
  clockMeasureMs: 30_000,
  // Ten years: tests that move through more than that in one step mean something else.
  clockAdvanceSecondsMax: 10 * 366 * 24 * 3_600,
  // A year, as a bound on what can be meant.
  leaseMinutesMax: 366 * 24 * 60,
  // Nesting of such a query: more than anyone writes by hand.
  propertiesDepthMax: 32,

  // Several reservations of one lease are packed by trying: so many hosts × reservations, and so many steps of well under
  // a microsecond each. Beyond that only the usual order is tried.
  fitSearchMax: 1_000,
  fitStepsMax: 20_000,
  // Proposals that others were faster with; after that all hosts that could do are locked.
  bookingAttemptsMax: 8,
  // Hosts looked at for the next windows, all tries together: about ten milliseconds.
  refusalLooksMax: 20_000,
  // The same when that is all that was asked for.
  explainLooksMax: 200_000,
  // Hosts that are locked to make sure of a refusal.
  refusalLocksMax: 256,
  refusalWindowsMax: 3,
  refusalSampleMax: 5,
  // Leases that start in one transaction: long enough to share the commit, short enough for requests in between.
  leaseStartsMax: 25,
  leaseEndsAtOnce: 4,
  leaseEventsMax: 200,
  // A lease that waits for the one before it on a host starts this soon after that has let go.
  leaseWaitMs: 1_000,
  // Of those who keep a lease from ending, so many are named.
  leaseHoldersShown: 5,
  // What could not be done is tried again soon, then ever more seldom, and at least every minute.
  leaseRetryMs: 250,
  leaseRetryMsMax: 60_000,
  // Reservations that lack something are looked after this often; hosts that go down are heard of at once.
  healingPollMs: 5_000,
  // A client waits for the service that decides about leases; longer than this it counts as away.
  leaseServiceMsMax: 5_000,
  leaseServiceMessageMax: 1_000,

  // As many as one answer holds, and what clients have always been given.
  serverPageMax: 1_000,
  flavorPageMax: 1_000,
  // Servers in one request; each takes a transaction of its own.
  serversPerRequestMax: 100,
  // Places that a search proposes at once, and that are tried in all before a server is told that there is none.
  placesPerSearch: 8,
  placesTriedMax: 64,
  metadataPerServerMax: 128,
  extraSpecsPerFlavorMax: 128,
  // The largest number that clients may put into a flavor: what fits 32 bits, and any machine.
  flavorNumberMax: 2_147_483_647,
  // While a node is being deployed or emptied for a server, its state is looked at this often.
  serverPollMs: 100,
  // Limits that a project may have: the fixed ones, and as many classes of nodes as a fleet has. All are read with each promise.
  quotaLimitsMax: 100,
  // The largest limit: what fits 32 bits, and any fleet.
  quotaMax: 2_147_483_647,
  // Servers that one look of the duty takes up.
  serversPerLook: 256,
} as const
