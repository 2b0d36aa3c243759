// Says what became of an object, for the log. A word that the catalog doesn't have for that kind doesn't compile.
import { limits } from '../shared/limits.ts'
import type { Subject } from '../store/transaction.ts'
import { type EventKind, KINDS, subjectKindOf } from './kinds.ts'

export type Word<K extends EventKind> = keyof (typeof KINDS)[K]['became']

type About = Pick<Subject, 'before' | 'after' | 'whose' | 'data' | 'history'>

export const subject = <K extends EventKind>(kind: K, id: string, became: Word<K> & string, about: About): Subject => ({
  kind: subjectKindOf(kind),
  id,
  became,
  ...about,
})

/** As many of a list as an event's data may have. */
export const someOf = <T>(list: readonly T[]): readonly T[] => list.slice(0, limits.eventListMax)

/** A sentence in an event's data. */
export const textIn = (text: string | null): string | null => text && text.slice(0, limits.eventTextMax)

/** A time in an event's data. */
export const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
