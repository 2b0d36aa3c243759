// Picks what a version needs from a list, newest first, worked out once for all versions.
import type { Form } from '../operation.ts'
import { since, VERSIONS, type Version, type Word } from './versions.ts'

/** Each choice goes with the word that it came with; null is for the oldest versions. */
export function byVersion<F extends Form>(choices: readonly (readonly [Word | null, F])[]): ByVersion<F> {
  const table = VERSIONS.map(({ has }) => choices.find(([word]) => word === null || has[word])![1])
  for (const [word, form] of choices) if (word !== null) form.since = since(word)
  return Object.assign(({ minor }: Version) => table[minor]!, { all: choices.map(([, form]) => form) })
}

interface ByVersion<F> {
  (version: Version): F
  /** All that there is to choose from, newest first. */
  all: readonly F[]
}
