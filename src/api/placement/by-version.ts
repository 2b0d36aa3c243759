// Picks the form for a version from a list, newest first. The table for all versions is built once.
import type { Form } from '../operation.ts'
import { since, VERSIONS, type Version, type Word } from './versions.ts'

/** Each form is listed with the feature that brought it; null is for the oldest versions. */
export function byVersion<F extends Form>(choices: readonly (readonly [Word | null, F])[]): ByVersion<F> {
  const table = VERSIONS.map(({ has }) => choices.find(([word]) => word === null || has[word])![1])
  for (const [word, form] of choices) if (word !== null) form.since = since(word)
  return Object.assign(({ minor }: Version) => table[minor]!, { all: choices.map(([, form]) => form) })
}

interface ByVersion<F> {
  (version: Version): F
  /** All forms, newest first. */
  all: readonly F[]
}
