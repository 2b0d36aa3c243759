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

  // Power is read after pauses that grow by half, from the first of these to the last: quick machines are seen soon, and
  // slow BMCs aren't asked all the time.
  powerPollMs: 500,
  powerPollMsMax: 5_000,
  // How long a machine may take to be on or off after a hard command, as upstream has it.
  powerMsMax: 60_000,
  // How long an operating system may take to shut down, as upstream has it.
  softPowerMsMax: 600_000,
  // Some BMCs refuse to switch on for up to a minute after the machine went off.
  powerOnTries: 6,
  powerOnPauseMs: 10_000,

  // A BMC that is busy with its media is asked again, as upstream does.
  mediaTries: 3,
  mediaPauseMs: 3_000,
  // How often a medium is looked at until it is connected or gone: half a minute.
  mediaLooks: 10,

  // A config drive, unpacked: some hundred kB as a rule, and its text must fit into a field of the node.
  configDriveBytesMax: 16 * 1024 * 1024,
  // Config drives that are kept ready: BMCs that stream a medium ask for it sector by sector.
  configDrivesKept: 4,

  // How long a hook takes at most if the operator doesn't say: writing an image over a network of a lab.
  hookSecondsDefault: 600,
  hookSecondsMax: 24 * 60 * 60,
  // Between asking a hook to end and ending it. Less than a conductor is silent before another takes over.
  hookGraceMs: 5_000,
  // A program whose output is still open after its end has left someone behind: nobody waits for that.
  hookDrainMs: 500,
  // What is kept of a hook's output, from its end: a screen or two, where it says why it failed.
  hookOutputCharsMax: 16_000,
  // What a message repeats of a hook's last line.
  hookReasonCharsMax: 500,
  // A hook that asks for more time is asked again after these, and so often: about a day.
  hookPauseMs: 5_000,
  hookPauseMsMax: 5 * 60_000,
  hookAsksMax: 300,
  // Sets of hooks, and the words of a command.
  hookSetsMax: 64,
  hookWordsMax: 64,
} as const
