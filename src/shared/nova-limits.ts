// The limits of what we ask of a Nova, each with its reason.

export const novaLimits = {
  // Without RabbitMQ Nova is silent for 90 s over some requests, and does them all the same: they are repeated.
  novaAnswerMsMax: 30_000,
  // Of a list in pages: more than any cloud has, so that a Nova that repeats a page can't keep us for ever.
  novaPagesMax: 1_000,
  // All pages of a list: less than a term of work below, or two processes would take a row from each other for ever.
  novaListMsMax: 60_000,
  novaAnswerBytesMax: 64 * 1_024 * 1_024,
  // For the work below, for lists of hosts, and for requests that ask at once.
  novaConnections: 16,
  // Shorter than the 5 s after which some servers of WSGI close a connection that nobody uses.
  novaKeepAliveMs: 2_000,
  // Work for Nova that one process does at once: Nova's API has few workers.
  novaWorkAtOnce: 4,
  // Who works on a row has so long before others may try. It begins anew before each change, with room for what is asked
  // in between.
  novaTermMs: 90_000,
  // What was asked for, such as the deletion of servers, is looked at again after so long.
  novaWaitMs: 1_000,
  novaWaitMsMax: 30_000,
  // Rounds that asked for a deletion before it is forced: about half a minute.
  novaForceAfter: 5,
  // What a client is told that asked for something that only Nova knows.
  novaAwayRetrySeconds: 5,
  // How many of several hypervisors that a name may stand for are named.
  hypervisorsShown: 5,
  // Requests of one round that fail before it counts as failed: one server may be stuck while others can be deleted, but a
  // Nova that is away is not asked about each of them.
  novaFailuresMax: 16,
  novaRetryMs: 1_000,
  novaRetryMsMax: 60_000,
  // Reservations with trouble that are named to operators.
  novaTroublesShown: 5,
  // Characters of what Nova said that are kept.
  novaMessageMax: 500,
} as const
