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
  // More than the largest machines have.
  redfishSensorsMax: 1_000,
  // The newest entries of the event log: more than anyone reads at once.
  redfishEventsMax: 500,
  // How long a task of a BMC is awaited, and how often it is looked at unless it says so itself.
  redfishTaskMs: 600_000,
  redfishTaskPollMs: 1_000,
  // Dell's BMC doesn't know a task that it has just made: it is asked so often before it counts as gone.
  redfishTaskMissedMax: 3,
  // BMCs whose sessions are kept: some kB each.
  redfishClientsMax: 4_096,
  // Logging out when the process stops: nobody waits long for a BMC that is gone.
  redfishLogoutMs: 3_000,

  // Resources that an inspection reads: a large machine has some hundred, and a slow BMC needs a second for each.
  inspectionReadsMax: 2_000,

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

  // Steps in a deploy template or in one request: more than anybody has thought of for a machine.
  stepsMax: 256,
  // Logical disks of one machine: a controller makes 64 to 240 of them.
  logicalDisksMax: 256,

  // How often a ramdisk's agent says that it is there, as upstream tells it.
  agentHeartbeatSeconds: 300,
  // 43 characters; agents want 32 at least.
  agentTokenBytes: 32,
  // Network cards of one machine.
  agentAddressesMax: 256,
  // A certificate with its chain.
  agentCertificateCharsMax: 32 * 1024,
  // Events of other services in one request.
  externalEventsMax: 1_000,
} as const
