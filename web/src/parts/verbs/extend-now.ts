// Extends at once, with a way back. What doesn't fit opens the sheet, which says why and what would.
import type { Machine } from '../../../../src/client/status.ts'
import { serverNow, when } from '../../data/clock.ts'
import { reasonOf, tell } from '../../data/doing.ts'
import { server } from '../../data/session.ts'
import { words } from '../../words.ts'
import { ask } from './asked.ts'
import { onAll } from './deeds.ts'
import { endOf, extend, hadOf, tryToExtend } from './promises.ts'

export async function extendNow(machine: Machine, byMs: number): Promise<void> {
  const had = hadOf([machine], 'extend').map(one => ({ ...one, end: endOf(one, { byMs }, serverNow()) }))
  const [only] = had
  if (!only) return
  try {
    const { whyNot } = await tryToExtend(server(), only, only.end)
    if (whyNot !== null) {
      ask({ what: 'extend', machines: [machine], byMs })
      return
    }
    await onAll(had, {
      said: () => words.verbs.extended(only.name, when(only.end)),
      act: (at, one) => extend(at, one, one.end),
      undo: (at, one) => extend(at, one, Date.parse(one.until!)),
    })
  } catch (error) {
    tell({ text: words.doing.refused(reasonOf(error)), kind: 'refused', action: null })
  }
}
