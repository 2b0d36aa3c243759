// The limits of hardware drivers, each with its reason.

export const hardwareLimits = {
  // TCP and TLS: a slow BMC needs some seconds for the handshake.
  redfishConnectMs: 15_000,
  // As upstream: slow BMCs need most of a minute for a large collection.
  redfishReadMs: 60_000,
  // A POST may answer only after the BMC has downloaded a medium.
  redfishPostMs: 300_000,
  // One request with its repetitions, unless it is a POST.
  redfishRequestMs: 90_000,
  redfishTries: 5,
  redfishPauseMs: 3_000,
  // A BMC that asks for more time than this is asked again all the same.
  redfishRetryAfterMsMax: 30_000,
  redfishRedirectsMax: 5,
  // BMCs take few connections at a time, and their web servers serve one or two.
  redfishConnections: 2,
  // The largest honest answers are registries of firmware settings: some megabytes.
  redfishAnswerBytesMax: 16 * 1024 * 1024,
  // What a message repeats of the words of a BMC.
  redfishWordsMax: 500,
  // Members of one collection: log entries are the longest.
  redfishMembersMax: 2_000,
  // How long a task of a BMC is awaited, and how often it is looked at unless it says so itself.
  redfishTaskMs: 600_000,
  redfishTaskPollMs: 1_000,
  // Dell's BMC doesn't know a task that it has just made: it is asked so often before it counts as gone.
  redfishTaskMissedMax: 3,
  // BMCs whose sessions are kept: some kB each.
  redfishClientsMax: 4_096,
  // Logging out when the process stops: nobody waits long for a BMC that is gone.
  redfishLogoutMs: 3_000,
} as const
