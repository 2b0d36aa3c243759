// Everything that can be done with machines from here: having and booking them, and the verbs that every page has.
import type { Machine } from '../../../../src/client/status.ts'
import { isLive } from '../../data/live.ts'
import { openBooking, openGet } from '../../parts/booking/open.ts'
import { type Action, actionsOf } from '../../parts/verbs/actions.ts'
import { words } from '../../words.ts'

export function allActions(machines: readonly Machine[]): Action[] {
  const action = (verb: 'allocate' | 'book', text: string, act: (machines: readonly string[]) => void): Action[] => {
    const able = machines.filter(({ may }) => may.includes(verb)).map(({ uuid }) => uuid)
    const whyNot = isLive() ? null : words.doing.offline
    return able.length === 0 ? [] : [{ verb, text, isDangerous: false, whyNot, can: able.length, act: () => act(able) }]
  }
  return [
    ...action('allocate', words.now.get, some => openGet({ machines: some })),
    ...action('book', words.now.book, some => openBooking({ machines: some })),
    ...actionsOf(machines),
  ]
}
