// A step in parts: each is written down before it begins, so that whoever takes over goes on with that one.
import type { Done, Part, Site, StepResult } from './port.ts'

export interface PlannedPart extends Part {
  /**
   * Safe to repeat: it may have been done already, in whole or in part, by a conductor that died. `isRepeated`: one has
   * begun it before.
   */
  run: (isRepeated: boolean) => Promise<Done | void>
}

/**
 * Runs the parts in order, from the one that was begun last. The same node must always give the same parts; where
 * another version of this program planned fewer, all are done again.
 */
export async function inParts(parts: readonly PlannedPart[], site: Site): Promise<StepResult> {
  const first = site.part < parts.length ? site.part : 0
  let found: Done = site.found ?? {}
  for (const [index, { run, ...part }] of parts.entries()) {
    if (index < first) continue
    await site.begin(index, part, found)
    found = joined(found, (await run(first > 0 && index === first)) ?? {})
  }
  return { kind: 'done', found }
}

const joined = (earlier: Done, later: Done): Done => ({
  ...earlier,
  ...later,
  ...(earlier.internal && { internal: { ...earlier.internal, ...later.internal } }),
})
