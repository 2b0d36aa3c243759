// Mutants that survive and may: each was looked at, and the reason is given. Found by what the line says, so that it may
// move; when the line changes, it is judged anew.

interface Judged {
  file: string
  /** The line, without its indentation. */
  line: string
  /** As `npm run mutate` prints it. */
  change: string
  why: string
}

export const JUDGED: readonly Judged[] = []
