// The limits of events, streams, webhooks, calendars and the status, each with its reason.

export const tellingLimits = {
  // Events are told when they are committed; this is for notifications that were lost.
  eventPollMs: 50,
  // While another process orders the log, which takes some milliseconds, this one asks again, with pauses that double up
  // to this one. If that lasts for two seconds, something is wrong, and this one goes on without.
  orderPauseMsMax: 1_024,
  // Entries of the log that are read at once.
  eventPageMax: 500,
  // How long listeners can be away while no audit is kept.
  eventKeepDays: 7,
  // For listeners that are a little behind: some megabytes.
  eventsInMemory: 4_096,
  // Names in a list in an event's data. Whoever needs more of them asks for the object.
  eventListMax: 64,
  // Characters of a reason in an event's data.
  eventTextMax: 1_000,

  // Events in one answer.
  eventsPerPageMax: 1_000,
  // Entries of the log that are looked through for one page: about a second of work at the most.
  eventEntriesLookedAt: 10_000,
  // A poll waits at most this long: proxies and clients give up after a minute.
  eventWaitMsMax: 55_000,
  // Streams and waiting polls of a process: each costs a socket and a few kB.
  streamsMax: 1_000,
  // Proxies close what is silent for a minute; a client that hears nothing for two of these knows that the stream is dead.
  streamBeatMs: 15_000,
  // When a client comes back whose stream has ended.
  streamRetryMs: 2_000,
  // A reader that took nothing for so many beats is dropped. It comes back with its cursor, and loses nothing.
  streamBeatsWaitedMax: 2,
  // A stream writes about so much at once: what a socket takes in one go.
  streamPieceChars: 64 * 1024,
  // For a page to open its stream.
  ticketMs: 60_000,
  // Kinds, types or objects in one filter.
  eventFilterMax: 100,

  // Each webhook is matched with each event: a thousand take about a millisecond.
  webhooksMax: 1_000,
  webhooksPerProjectMax: 20,
  webhookUrlCharsMax: 2_000,
  // Tests of a project's webhooks: each is a request or a letter to someone who may not have asked for it.
  webhookTestsPerMinute: 10,
  webhookTypesMax: 50,
  // Deliveries that wait in the outbox of one webhook. What comes after them waits in the log.
  deliveriesPendingMax: 1_000,
  // Put into outboxes in one transaction: some megabytes.
  deliveriesPerFanOut: 2_000,
  // Deliveries that one process has under way. A receiver that hangs has each of its own for 15 s. So those that failed last
  // try again in a few places of their own, one for a webhook, and mail has its own too. An owner is a project, or who made
  // a webhook of all projects.
  deliveryLanes: {
    first: { places: 40, ofOwner: 16, ofWebhook: 8 },
    again: { places: 16, ofOwner: 4, ofWebhook: 1 },
    mail: { places: 8, ofOwner: 4, ofWebhook: 2 },
  },
  // For the whole answer, as Standard Webhooks says.
  deliveryMsMax: 15_000,
  // For one question to a name server, asked twice: a third of the time that a delivery has.
  nameLookupMs: 2_500,
  // Who takes a delivery must be done with it by then: twice as long.
  deliveryTermMs: 30_000,
  deliveryAnswerBytesMax: 64 * 1024,
  // What is kept of an answer, to be shown.
  deliveryAnswerCharsKept: 1_024,
  // The pauses between tries, as Standard Webhooks has them; the last is repeated.
  deliveryPausesMs: [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000],
  // A day: a receiver that is broken in the evening is mended in the morning.
  deliveryTriesMs: 24 * 3_600_000,
  // A receiver that asks for more time than this is asked again all the same.
  retryAfterMsMax: 3_600_000,
  // The last deliveries of each webhook are kept, to be looked at.
  deliveriesKept: 100,
  // How often those before them are dropped.
  deliveryPruneMs: 10_000,
  // Events and answers wake those who send; this is for what became due, and for what was missed.
  webhookPollMs: 1_000,
  // After a change of the secret the old one signs too, until receivers have the new one.
  oldSecretMs: 24 * 3_600_000,
  webhookSecretBytes: 32,

  // Calendars that a user may make in a project.
  calendarsPerUserMax: 100,
  // Leases ahead, leases that are over, and allocations: of each at most this many. All together about 1.5 MB of text.
  calendarAppointmentsMax: 500,
  // How long what is over is still shown.
  calendarPastMs: 30 * 86_400_000,
  // An allocation whose end is moved more often than programs read calendars is kept by a process, not by a person.
  calendarShortestMs: 15 * 60_000,
  // Nodes in the text of one appointment.
  calendarNodesShown: 50,
  calendarPlaceCharsMax: 255,
  // 256 bits.
  calendarTokenBytes: 32,
  // Readings are noted at most this often: to see which calendars nobody uses, an hour is exact enough.
  calendarReadNoteMs: 60 * 60_000,

  // Entries of the log that the board follows one by one: about 50 ms of work. After more of them it reads all again.
  statusEntriesMax: 5_000,
  // With the claims of other services, which are skipped: some seconds at full load.
  statusPlacesMax: 50_000,
  // Machines that are read at once: about 20 ms, for which others wait on SQLite.
  statusReadMax: 1_000,
  // Requests that gave up lately: more than anyone looks through.
  statusGaveUpMax: 100,
  // Requests in line that are shown, and machines that would do for each: together some megabytes at the most.
  statusWaitingMax: 1_000,
  statusSuitsMax: 100,
  // While nothing changes, the places in the line are worked out this often: time alone moves them little.
  statusLineMs: 1_000,
  // How a row of the board looks to callers with different rights: its owner, its lessee, operators and readers.
  statusLooksMax: 8,
  // Projects and roles whose view of the board is remembered.
  statusViewpointsMax: 256,
  // Machines whose texts are kept in one piece: an answer for 10,000 has a hundred pieces, and a change makes one again.
  statusBlockSize: 100,
  // Callers for whom these pieces are kept: 5 MB each for 10,000 machines.
  statusCallersMax: 8,
  // A calendar of a quarter, and some.
  statusSpanMsMax: 400 * 86_400_000,
  // Changes are told together, so that two hundred a second are five messages. With the reading of the rows, a change is
  // seen well within half a second.
  statusBundleMs: 200,
  // Between two looks at least, also when the first found nothing.
  statusPauseMs: 20,
  // How often those who follow look again when nothing is heard: for names, and for what was told later to spare work.
  statusLookMs: 1_000,
  // Viewers are told after 5 s that what they see may be old.
  statusBeatMs: 2_000,
  // A reader that took nothing for so many of these beats is dropped: half a minute.
  statusBeatsWaitedMax: 15,
  // After so many of these beats the token is checked again, as for streams of events.
  statusBeatsPerCheck: 7,
  // Hosts and the line of those who wait are told whole, and at most this often unless someone comes or goes.
  statusWholeMs: 1_000,
  // While nothing changes but the time, the places in the line are told this often.
  statusLineAgainMs: 15_000,
  // Machines that are gone or belong to others now. Who has not heard of them before is told everything.
  statusDepartedMax: 10_000,
  // Projects whose limits and use operators see at a glance: each costs some queries.
  healthQuotasMax: 100,
  // Entries of the log that are looked through for what happened to one machine, and how many are shown.
  statusHistoryLookedAt: 20_000,
  statusHistoryMax: 50,
  // Services in the catalog, and regions of one: more than OpenStack has, and every token that is shown carries them.
  catalogEntriesMax: 64,
  catalogRegionsMax: 16,

  // Rows whose texts one read of fsck takes: a node has up to a quarter of a megabyte of JSON, other rows much less.
  fsckTextsPage: 1_000,
  fsckLargeTextsPage: 50,
  // Rows that a line of fsck names.
  fsckNamedMax: 5,
} as const
