// The problems of quotas, and their messages.

/** One limit that would be exceeded. */
export interface Excess {
  name: string
  max: number
  used: number
  asked: number
}

/** Nova's clients know vCPUs by this name. */
const wordOf = ({ name }: Excess) => (name === 'vcpus' ? 'cores' : name)

export const QUOTA_PROBLEMS = {
  /** In Nova's words, for all APIs. */
  quota_exceeded: (f: { over: readonly Excess[] }) => {
    const over = f.over.toSorted((a, b) => (wordOf(a) < wordOf(b) ? -1 : 1))
    const listed = (part: (excess: Excess) => unknown) => over.map(part).join(', ')
    return (
      `Quota exceeded for ${listed(wordOf)}: Requested ${listed(({ asked }) => asked)}, ` +
      `but already used ${listed(({ used }) => used)} of ${listed(({ max }) => max)} ${listed(wordOf)}`
    )
  },
  quota_too_long: (f: { name: string; max: number; hours: number | null }) =>
    `Quota exceeded for ${f.name}: Requested ${f.hours ?? 'no end'}, but at most ${f.max} hours are allowed`,
  quota_invalid: (f: { reason: string }) => f.reason,
  quota_not_found: (f: { project: string }) => `Project ${f.project} has no limits of its own.`,
} as const
