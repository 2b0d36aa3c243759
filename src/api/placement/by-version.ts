// Picks what a version needs from a list, newest first, worked out once for all versions.
import { VERSIONS, type Version, type Word } from './versions.ts'

/** Each choice goes with the word that it came with; null is for the oldest versions. */
export function byVersion<T>(choices: readonly (readonly [Word | null, T])[]): (version: Version) => T {
  const table = VERSIONS.map(({ has }) => choices.find(([word]) => word === null || has[word])![1])
  return ({ minor }) => table[minor]!
}
