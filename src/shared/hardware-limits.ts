// The limits of machines and their drivers, each with its reason.

export const hardwareLimits = {
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
}
