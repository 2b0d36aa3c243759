// Microversions as words: a table maps each feature to the minor version that brought it, and handlers know only words.
import { problem } from '../../problems/problem.ts'

export interface Version<Word extends string = never> {
  readonly minor: number
  readonly text: string
  readonly has: Readonly<Record<Word, boolean>>
  /** The version headers of each answer. */
  readonly headers: Readonly<Record<string, string>>
  readonly since: Readonly<Record<Word, number>>
}

/** The versions of a major version, from minor 0 to the maximum. */
export const versionsOf = <Word extends string>(
  since: Readonly<Record<Word, number>>,
  max: number,
  headers: (text: string) => Record<string, string>,
  major = 1,
): readonly Version<Word>[] =>
  Array.from({ length: max + 1 }, (_, minor) => ({
    minor,
    text: `${major}.${minor}`,
    has: Object.fromEntries(
      Object.entries<number>(since).map(([word, first]) => [word, minor >= first]),
    ) as Version<Word>['has'],
    headers: headers(`${major}.${minor}`),
    since,
  }))

/** Refuses what the client's version does not have. */
export function requireWord<Word extends string>({ has, since, text }: Version<Word>, word: Word, what: string): void {
  if (has[word]) return
  throw problem('version_too_old', {
    reason: `Request not acceptable. ${what} needs at least API version 1.${since[word]}, and ${text} was used.`,
  })
}
