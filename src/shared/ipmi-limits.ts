// The limits of ipmitool and of consoles, each with its reason.

export const ipmiLimits = {
  // Processes of ipmitool at a time. Each mostly waits for a BMC, and costs some megabytes.
  ipmiProcessesMax: 32,
  // Commands that wait for a BMC or for a place; more than all nodes that a conductor works on and looks at.
  ipmiWaitingMax: 4_096,
  // Old BMCs lose sessions that come faster. Upstream waits for 5 s; one at a time, 2 s have been enough.
  ipmiPauseMs: 2_000,
  // Seconds until ipmitool sends a request again, and how often it does: a BMC that is away is known after ten seconds.
  ipmiAnswerSeconds: 5,
  ipmiRepeats: 1,
  // A refusal takes a tenth of a second. Who needs longer than this did not answer.
  ipmiRefusalMs: 3_000,
  // For one command, and for the long lists of sensors and events: slow BMCs need a second for ten sensors.
  ipmiCommandMs: 60_000,
  ipmiListMs: 180_000,
  // For giving a console back: nobody waits long for a BMC that is gone.
  ipmiFarewellMs: 5_000,
  // A busy BMC is asked again for about a minute.
  ipmiBusyTries: 7,
  ipmiBusyPauseMs: 8_000,
  // A thousand sensors or ten thousand events.
  ipmiAnswerBytesMax: 2 * 1024 * 1024,
  // What a message repeats of the words of ipmitool.
  ipmiWordsMax: 300,
  // How long power may take to change. As upstream.
  ipmiPowerMs: 60_000,
  ipmiSoftPowerMs: 600_000,
  // The newest events of a log that are shown.
  ipmiEventsMax: 1_000,
  // BMCs whose cipher suite and last command are remembered.
  ipmiKnownMax: 4_096,

  // What is kept of a console's output for those who come later: some screens.
  consoleScrollbackBytes: 64 * 1024,
  // Viewers of one machine.
  consoleViewersMax: 16,
  // What a viewer may be behind: then it is dropped, and comes back to the scrollback.
  consoleBehindBytesMax: 1024 * 1024,
  // One message of a viewer: a paste of some pages.
  consoleTypedBytesMax: 16 * 1024,
  // After the last viewer the line stays open for a moment, since pages are loaded again.
  consoleLingerMs: 5_000,
  // Pauses between tries to open a line that is lost; the last is repeated.
  consolePausesMs: [2_000, 5_000, 15_000, 30_000],
  // After so many refusals a session of someone else is ended: it is more likely forgotten than in use.
  consoleTriesBeforeTakeOver: 4,
  // How often it is checked that a viewer may still see the machine: a machine that changed hands is cut off by then.
  consoleCheckMs: 2_000,
  // A viewer who neither types nor sees anything for so long has left.
  consoleIdleMs: 3_600_000,
} as const
