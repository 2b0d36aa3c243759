// The limits of what drivers do with machines, each with its reason.

export const hardwareLimits = {
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
} as const
