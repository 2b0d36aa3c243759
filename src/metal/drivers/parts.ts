// A step in parts: each is written down before it begins, so that whoever takes over goes on with that one.
import type { Done, Part, Site, StepResult } from './port.ts'

export interface PlannedPart extends Part {
  /** Safe to repeat: it may have been done already, in whole or in part, by a conductor that died. */
  run: () => Promise<Done | void>
}

/** Runs the parts in order, from the one that was begun last. The same node must always give the same parts. */
export async function inParts(parts: readonly PlannedPart[], site: Site): Promise<StepResult> {
  let found: Done = {}
  for (const [index, { run, ...part }] of parts.entries()) {
    if (index < site.part) continue
    await site.begin(index, part)
    found = { ...found, ...(await run()) }
  }
  return { kind: 'done', found }
}
