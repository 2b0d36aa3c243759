// The limits of what has to do with machines and their drivers, each with its reason.

export const hardwareLimits = {
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
