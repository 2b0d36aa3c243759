// The limits of answers: what is in memory, and how long others wait.
export const answerLimits = {
  // Large answers that are being made, or that clients have not read yet. Half of it for one caller, and a process of a
  // small site stays within half a gigabyte.
  answersBytesMax: 512 * 1024 * 1024,
  // What has no room waits this long: several of the largest pages are made and read meanwhile.
  answerWaitMsMax: 10_000,
  // A client that reads nothing of a large answer for so long is gone, or in the way. Node may take twice as long.
  answerIdleMsMax: 60_000,
  // What is written in one turn, and sent in one: about a millisecond.
  answerPieceBytes: 256 * 1024,
  // Rows that are read at a time. One row may be larger.
  answerPartBytes: 512 * 1024,
  // A page ends before it has more. A thousand nodes in detail have about five megabytes.
  answerPageBytesMax: 8 * 1024 * 1024,
  // What a row has besides its texts: names, times, links.
  rowBytesBesides: 1_024,
} as const
