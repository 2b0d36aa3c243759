// The limits of what has to do with machines and their BMCs, each with its reason.

export const hardwareLimits = {
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
} as const
