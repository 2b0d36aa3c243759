// A limit on everything, each with its reason. Those of hardware, of the databases, of turns, and of what tells people and programs, have
// files of their own.
import { answerLimits } from './answer-limits.ts'
import { hardwareLimits } from './hardware-limits.ts'
import { leaseLimits } from './lease-limits.ts'
import { novaLimits } from './nova-limits.ts'
import { storeLimits } from './store-limits.ts'
import { tellingLimits } from './telling-limits.ts'
import { turnLimits } from './turn-limits.ts'

export const limits = {
  ...answerLimits,
  ...hardwareLimits,
  ...leaseLimits,
  ...novaLimits,
  ...storeLimits,
  ...tellingLimits,
  ...turnLimits,

  // More than any honest body outside of the bulk routes: a server with its user data is a little over 64 KiB.
  bodyBytesMax: 256 * 1024,
  // A POST of 1,000 consumers is about 400 kB; a reshape of a large tree about 1 MB; a node has five documents of 256 KiB.
  bulkBodyBytesMax: 4 * 1024 * 1024,
  // All bodies that are being read or worked on: sixteen of the largest, and a small part of a small machine's memory.
  bodiesBytesMax: 64 * 1024 * 1024,
  // Longer bodies of many members are read, parsed and checked in turns. Up to here all of it takes a few milliseconds.
  bodyBytesPerTurn: 128 * 1024,
  // Members of such a body that are checked in one turn.
  membersPerTurn: 500,
  // Items of a list that are looked at before others get a turn: a few milliseconds.
  listItemsPerTurn: 1_000,
  // Providers that a load reads at a time: a page is read and taken over in about ten milliseconds.
  loadPageProviders: 2_000,
  // Ten times what a reshape of a large tree holds. Parsing that many takes about 20 ms, and all others wait for it.
  jsonElementsMax: 250_000,
  // Requests in flight: more than all honest clients of a large site have at once, and few enough to fit in memory.
  requestsMax: 1_024,
  // Files of the dashboard in flight: they have places of their own. A page takes about twenty at once.
  uiFilesMax: 1_024,
  // The share of one project or address, once half of all are taken. An OpenStack with 64 workers stays far below it.
  requestSharePercent: 25,
  // When to retry a request that is refused because its project or address has too many in flight.
  crowdedRetrySeconds: 1,
  // 100 traits of 255 characters in one candidates query still fit.
  urlBytesMax: 32 * 1024,
  headerBytesMax: 48 * 1024,
  // A request whose headers or body take longer than this to arrive is cut off.
  requestMsMax: 30_000,
  // How often that is checked.
  requestCheckMs: 2_000,
  // Long enough for a client to read the answer to its broken request. Then the socket is closed in any case.
  brokenLingerMs: 500,
  // Longer than the slowest honest request, shorter than an orchestrator's patience with SIGTERM.
  drainMsMax: 8_000,
  // Longer than a proxy with some load leaves a connection idle.
  lingerMs: 250,
  lingerMsMax: 60_000,
  // The process exits this long after all was stopped, whatever still holds it.
  exitMsMax: 500,
  // Requests slower than this are logged.
  slowRequestMs: 1_000,
  // Log lines kept while they can't be written: about a minute of a server whose disk is full.
  logBytesKept: 1024 * 1024,
  // Rows are counted for the metrics at most this often, and the pause is at least a hundred times the last count: so
  // counting takes at most a hundredth of the time, however large the database is.
  censusMs: 10_000,
  censusRest: 100,
  // A scraper waits ten seconds. Without a database the other metrics are sent after this one.
  censusWaitMs: 1_000,
  // An older count is no longer reported.
  censusKeepMs: 60_000,

  // Past 64 claims a commit the gain is under 10 %, and latency keeps growing.
  claimBatchMax: 64,
  // On PostgreSQL a batch waits for no more than these. A smaller one would mostly be what each batch costs by itself.
  claimBatchEnough: 16,
  // A batch ends early when its requests name this many claims, so that a few huge ones don't hold up the rest.
  claimBatchRowsMax: 2_000,
  // A batch waits this long for a locked row: about twenty batches of other processes. Then the claims that need the
  // row are set aside and retried after a pause, and the others go on.
  claimLockMs: 250,
  claimPauseMs: 100,
  // About a second of work. Beyond that it is better to refuse, so that clients retry later.
  claimQueueMax: 16_384,
  // Providers that a reshape works on side by side: enough for few bursts, and few enough for short ones.
  reshapedTogether: 50,
  // Rows that go to the thread of a long transaction at a time, or come from it: about two milliseconds on either side.
  rowsPerMessage: 1_000,
  // How much lower the priority of that thread is: with 5 it still gets a quarter of a core that it shares with the loop,
  // since others wait for what it writes.
  threadNiceness: 5,

  // A step is a provider looked at, 20 to 200 ns: the worst query ends within seconds and says that it is incomplete.
  searchStepsMax: 5_000_000,
  // Steps before others get a turn: well under ten milliseconds, with the work between two steps.
  searchStepsPerTurn: 2_000,
  // Candidates × providers in one answer; a million of them are about 200 MB of text.
  searchPicksMax: 1_000_000,
  // Callers without real tokens (noauth2) that are kept, and the longest headers that are kept: tests and benches have few.
  noauth2CallersMax: 256,
  noauth2CharsMax: 1_000,
  // Candidate queries whose meaning is kept: schedulers send one for each flavor. A thousand are a few megabytes, and a
  // query that is longer than this is read each time.
  parsedQueriesMax: 1_000,
  parsedQueryCharsMax: 1_000,
  // Explaining tries many searches; together they may cost this much.
  explainStepsMax: 20_000_000,

  // The most nodes in one answer, as clients have always known it.
  nodePageMax: 1_000,
  // Far more than are deleted while the answer to one commit is on its way.
  goneNodesMax: 10_000,
  // Placement's limit for a provider's traits, and so the node's.
  nodeTraitsMax: 50,
  // One JSON field of a node; a thousand nodes of this size still fit in memory.
  nodeJsonBytesMax: 256 * 1024,
  // Deep enough for every honest document, and far from the end of the stack.
  jsonDepthMax: 64,
  patchesMax: 1_000,
  // About 10 kB each with their texts: 100 MB at the most, and twice the largest fleet that this is made for.
  shelvedNodesMax: 10_000,
  // Of those with large documents fewer.
  shelvedBytesMax: 128 * 1024 * 1024,
  // Detail, short row, and two choices of fields.
  textsPerNodeMax: 4,
  // Pages of nodes that nothing has changed since. A fleet of 10,000 has ten; they share its nodes with the shelf.
  keptPagesMax: 16,
  // Lists as they were sent last: 64 MB at the most, with their texts. One of 1,000 nodes with two fields has 300 kB.
  keptListsMax: 32,
  keptListBytesMax: 1024 * 1024,
  // Cached writers of nodes: versions × fields × hosts × what is hidden.
  nodeWritersMax: 128,
  portsPerNodeMax: 1_000,
  // Work comes by nudge; this is for nudges that were lost.
  conductorPollMs: 1_000,
  // The longest time that operators may set until others take over from a dead conductor.
  takeOverMsMax: 600_000,
  // A conductor that died is listed this long.
  conductorKeepMs: 24 * 60 * 60_000,
  // Allocations in `allocating` at once. Beyond that it is better to refuse, so that clients retry later.
  allocationsAtWorkMax: 10_000,
  // Retries when all suitable nodes are locked: as many and as far apart as clients have always seen.
  lockedNodeRetriesMax: 3,
  lockedNodeRetryMs: 1_000,
  // A level of priority is a head start of a day, and there are ten up and ten down: nobody is passed by those who come
  // twenty days later.
  priorityHeadStartMs: 86_400_000,
  priorityMax: 10,
  // A project may get a thousand times what another gets.
  shareMax: 1_000,
  // A year: use that is older should hardly count.
  halfLifeHoursMax: 8_784,
  // How often it is counted what projects used lately: a minute is nothing beside a half-life of hours.
  usageCountMs: 60_000,
  // In the fair order the next allocation of the same project comes as if the one before had used a node for an hour.
  fairTurnMs: 3_600_000,
  candidateNodesMax: 10_000,
  allocationTraitsMax: 50,
  // A keeper's name, and a message to a keeper: each is one line on a terminal.
  keeperNameMax: 100,
  keeperMessageMax: 300,
  // A note on an allocation: a line or two that others read in a table.
  noteMax: 300,
  // Ten years: a later time is a mistake.
  futureMsMax: 10 * 366 * 86_400_000,
  // Nodes named for each reason when an allocation found none.
  explainSampleMax: 5,
  // Nodes in the list of one hold; each is looked at in turn.
  reservationNodesMax: 1_000,
  // Expired holds ended in one transaction, and expired allocations read at once.
  expiryBatchMax: 256,
  // How soon an expired allocation is retried while its node can't be torn down.
  expiryRetryMs: 1_000,
  // An hour: longer than any real step, and still an end.
  fakeDelayMsMax: 60 * 60_000,

  // Entries under one seal: reading and hashing them takes about eight milliseconds, for which writers wait on SQLite.
  auditSealEntries: 1_024,
  // Entries younger than this may still be unsealed.
  auditSealMs: 1_000,
  // Dropped in one transaction.
  auditPruneSeals: 16,
  // Checked in one transaction: four thousand entries.
  auditCheckSeals: 4,
  auditPageMax: 1_000,
  // A hundred years.
  auditKeepDaysMax: 36_500,

  // Ten thousand users. The file is read whole at each change.
  usersFileBytesMax: 4 * 1024 * 1024,
  // A change of the file takes milliseconds, and on a bad disk seconds. After this long it was cut off.
  usersFileEditMsMax: 60_000,
  // How long a request waits for a change by another process, and how often it looks.
  usersFileWaitMs: 5_000,
  usersFileWaitLookMs: 50,
  // Changes that wait for each other in one process; each takes a few milliseconds.
  usersFileWaitingMax: 256,
  // A change must take effect within a second; this is half of it.
  fileLookMs: 500,
  // A caller who asks for a token, or an agent that says that it is there, is a stranger yet, so little is read.
  strangersBodyBytesMax: 64 * 1024,
  // Longer than any passphrase, and still quick to hash.
  passwordBytesMax: 4_096,
  // Our own tokens are about 250 characters, and Keystone's no longer.
  tokenLengthMax: 4_096,
  // Tokens in use at once; about 1 kB each.
  keptTokensMax: 10_000,
  // A token revoked elsewhere must be refused here within a second; this is half of it.
  tokenRecheckMs: 500,
  // Processes correct their clocks to the database's, so an honest difference is smaller than this.
  clockSlackMs: 60_000,
  // How much of a tried user name the audit keeps: as long as a real name may be.
  loginNameCharsMax: 255,
  // Allows a few typos a minute, but no dictionary attack.
  attemptsPerUserMax: 10,
  // Allows a classroom behind one address, but no guessing through a list of names.
  attemptsPerAddressMax: 100,
  attemptsSpanMs: 60_000,
  throttledMax: 20_000,
  // About five seconds of hashing. Beyond that it is better to refuse, so that clients retry later.
  hashesWaitingMax: 64,
  // The pool has four threads, and files need one.
  hashThreadsMax: 3,
  // How long a right password is remembered: for a script's next call, not for the next day.
  rightPasswordMs: 5 * 60_000,
  rightPasswordsMax: 1_000,
  applicationCredentialsPerUserMax: 100,
  // A validation takes milliseconds, a login on a busy Keystone seconds; one that takes longer counts as away.
  keystoneMsMax: 15_000,
  keystoneRequestsMax: 64,
  // Of these, for tokens that Keystone has not granted before: so made-up tokens leave room for checks of known ones.
  keystoneStrangersMax: 48,
  // And from one address, so that others' first tokens don't wait behind a flood.
  keystoneStrangersPerAddressMax: 16,
  // Kept apart from valid tokens, so that made-up ones don't push those out; up to 4 kB each.
  refusedTokensMax: 1_000,
  // A refusal is kept only this long: the token may be on its way between two of Keystone's servers.
  keystoneRefusalMs: 2_000,
  // The names of a large university; about 200 bytes each.
  seenNamesMax: 20_000,
  // People change names rarely, and a table shows an id until the name is known: one look in so long is enough.
  seenNamesLookMs: 2_000,
  // Who was not seen for long is forgotten first, to the day.
  seenAgainMs: 24 * 60 * 60_000,
  // Written together: so many people don't come in the time of one write.
  seenNamesPerWrite: 500,
  // In one URL: ids of 32 characters, and short of what proxies take.
  namesPerRequestMax: 100,
  // Our own token is replaced this long before it ends.
  keystoneRenewMs: 60_000,

  // For ids, resource classes and traits in a request, as in the ledger.
  nameCharsMax: 255,
  // Clocks of machines drift apart by well under a millisecond in this time.
  clockMeasureMs: 30_000,
  // Ten years: a test that moves further in one step is a mistake.
  clockAdvanceSecondsMax: 10 * 366 * 24 * 3_600,

  // The most in one answer, as clients have always known it.
  serverPageMax: 1_000,
  flavorPageMax: 1_000,
  // Servers in one request; each takes a transaction of its own.
  serversPerRequestMax: 100,
  // Places that one search proposes, and places tried in all before a server is refused for lack of room.
  placesPerSearch: 8,
  placesTriedMax: 64,
  metadataPerServerMax: 128,
  // As upstream.
  tagsPerServerMax: 50,
  // They are ignored, so more than anyone needs.
  networksPerServerMax: 128,
  extraSpecsPerFlavorMax: 128,
  // The largest number that clients may put into a flavor: what fits 32 bits, and any machine.
  flavorNumberMax: 2_147_483_647,
  // While a node is being deployed or emptied for a server, its state is checked this often.
  serverPollMs: 100,
  // Limits that a project may have: the fixed ones, and one for each node class. All are read at each quota check.
  quotaLimitsMax: 100,
  // What a project may store in large texts, unless a quota says more: thousands of times what honest ones do, and two
  // pages of a list.
  storedMibDefault: 16,
  // Texts up to here are not counted for it. The indexes of the tables have the same number.
  countedTextBytes: 4_096,
  // The largest limit: what fits 32 bits, and any fleet.
  quotaMax: 2_147_483_647,
  // Servers that one run of the duty handles.
  serversPerLook: 256,
} as const
