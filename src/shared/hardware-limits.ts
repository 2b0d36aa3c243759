// The limits of hardware drivers, each with its reason.
import { ipmiLimits } from './ipmi-limits.ts'

export const hardwareLimits = {
  // How often a power change looks at a locked node, and the pause between: a second in all. Upstream waits up to three,
  // and clients repeat a 409 only after two.
  nodeLockLooks: 20,
  nodeLockPauseMs: 50,
  // Transitions that one conductor has under way at once; the rest waits its turn. Each waits for its machine most of the
  // time, and when a rack loses power dozens wait for BMCs that are gone: they must not hold up the others.
  conductorTasksMax: 256,

  ...ipmiLimits,
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
  // The words of a driver for what failed. With them a node's last_error stays readable.
  hardwareWordsMax: 4_000,
  // What a message repeats of the words of a BMC.
  redfishWordsMax: 500,
  // A text of a BMC: log entries are the longest.
  redfishTextMax: 8_192,
  // The path of a resource: what web servers take.
  redfishLinkMax: 2_048,
  // Characters of one collection with its members, and of an inspection: they are in memory together.
  redfishCharsMax: 64 * 1024 * 1024,
  // Pages of one collection, some of which may be empty.
  redfishPagesMax: 200,
  // Settings of the firmware: servers have some hundred.
  biosSettingsMax: 5_000,
  // Members of one collection: log entries are the longest.
  redfishMembersMax: 2_000,
  // More than the largest machines have.
  redfishSensorsMax: 1_000,
  // The newest entries of the event log: more than anyone reads at once.
  redfishEventsMax: 500,
  // After a change of firmware settings or volumes the machine starts anew: servers with much memory need ten minutes.
  redfishSettleMs: 900_000,
  redfishSettlePollMs: 10_000,
  // How long a task of a BMC is awaited, and how often it is looked at unless it says so itself.
  redfishTaskMs: 600_000,
  redfishTaskPollMs: 1_000,
  // Dell's BMC doesn't know a task that it has just made: it is asked so often before it counts as gone.
  redfishTaskMissedMax: 3,
  // BMCs whose sessions are kept: some kB each.
  redfishClientsMax: 4_096,
  // A BMC that nobody asked for so long: its nodes are gone, or have another password. All others are asked each minute.
  redfishIdleMs: 900_000,
  // Logging out when the process stops: in all, and at once. Nobody waits long for BMCs that are gone.
  redfishLogoutMs: 3_000,
  redfishLogoutsAtOnce: 64,

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

  // Kernels have 10 to 20 MB; a ramdisk must fit into the memory of the machine, with all that it unpacks.
  kernelBytesMax: 256 * 1024 * 1024,
  ramdiskBytesMax: 1024 * 1024 * 1024,
  // x86 takes 2,048 with what GRUB puts in front.
  kernelParamsCharsMax: 1_900,
  // One of them: a large ramdisk over a slow network.
  bootFileMs: 300_000,
  bootFileRedirectsMax: 5,
  // grub-mkrescue takes some seconds; a busy machine with a large ramdisk takes a minute.
  bootIsoProgramMs: 180_000,
  // What is kept of what it says, from the end.
  bootIsoWordsMax: 500,
  // All of it, as the conductor waits for it: two files and the program.
  bootIsoMs: 900_000,
  // How long an answer waits for an ISO that is being made: most are there by then, and BMCs wait so long.
  bootIsoWaitMs: 10_000,
  // One answer to the conductor, and how often in a row the API may be away, with pauses.
  bootIsoAskMs: 30_000,
  bootIsoTries: 5,
  bootIsoPauseMs: 2_000,
  // The reason with a long URL in it.
  bootIsoAnswerCharsMax: 16_384,
  // Each takes a network and a disk for itself.
  bootIsosAtOnce: 2,
  // Those that are kept: a rack of machines boots the same one. Their bytes are on the disk of the API.
  bootIsosKept: 8,
  bootIsosBytesMax: 4 * 1024 * 1024 * 1024,
  // Since it was last read. A machine that boots again later has it made again.
  bootIsoKeepMs: 60 * 60_000,
  bootIsoSweepMs: 10 * 60_000,

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

  // A question to a machine: a slow BMC takes half a minute, and proxies and clients give up after a minute.
  callMsMax: 50_000,
  // For `validate`: people wait for it, and whoever has many machines asks all of them.
  callValidateMs: 15_000,
  // Before whoever asked gives up, the conductor says what it knows, and that has to travel.
  callMarginMs: 1_000,
  // A conductor's questions under way. A BMC that hangs has one of these for a minute.
  callsAtOnce: 128,
  // Questions to one machine that wait for an answer. BMCs are asked one question at a time.
  callsPerNodeMax: 16,
  // Answers wake whoever waits; this is for a ring that was lost.
  callPollMs: 1_000,
  // How long an answer stays for whoever asked, and how often what is older is swept.
  callKeepMs: 60_000,
  callSweepMs: 30_000,
  // Characters of an answer: the event log of a BMC with some thousand lines.
  callAnswerCharsMax: 4 * 1024 * 1024,
  // Characters of a reason that a driver gives.
  callFailureCharsMax: 2_000,
  // Machines that are asked for their power at once, and as many more of those that did not answer last time: with a
  // second for an answer, 32 ask two thousand machines in a minute.
  powerLooksMax: 32,
  // A slow BMC answers within some seconds. Who asks every minute gives up on one well before its next turn.
  powerLookMs: 30_000,
  // As upstream: the fourth failure in a row takes the node out of use.
  powerFailuresMax: 4,
  // How finely the machines are spread over the period: the fewer begin together, the less others notice.
  powerTicks: 240,
  powerTickMsMax: 250,
  // How often in a period a conductor reads which nodes are its own: so soon it looks at those of a dead one.
  powerSharesPerPeriod: 6,

  // Characters of a line in a node's history: the longest last_error is as long.
  historyEventMax: 4_096,
  // Characters of what a program printed: a screen or two. The end is kept, because it says why the program failed.
  historyOutputMax: 16_384,
  // Old lines are looked for this often. Counting the lines of a thousand nodes reads some megabytes.
  historyPruneMs: 10 * 60_000,
  // Lines that are dropped at once: a commit of some milliseconds.
  historyPruneBatch: 500,
  // More would make a page of the API slow.
  historyKeepMax: 10_000,

  // Steps in a deploy template or in one request: more than anybody has thought of for a machine.
  stepsMax: 256,
  // Logical disks of one machine: a controller makes 64 to 240 of them.
  logicalDisksMax: 256,

  // How often a ramdisk's agent says that it is there, as upstream tells it.
  agentHeartbeatSeconds: 300,
  // Two hundred machines behind one address that all start at once; each call is a read of one row.
  agentCallsPerMinute: 1_200,
  // 43 characters; agents want 32 at least.
  agentTokenBytes: 32,
  // Network cards of one machine.
  agentAddressesMax: 256,
  // A certificate with its chain.
  agentCertificateCharsMax: 32 * 1024,
  // Events of other services in one request.
  externalEventsMax: 1_000,
} as const
