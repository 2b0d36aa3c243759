// The server's conditions and changes, as this page says them.
import { words } from '../../words.ts'

const PAGE = words.capacity

/** Traits as people call them, in a text of the server's. */
export const plainTraits = (text: string): string => text.replaceAll('CUSTOM_', '')

const PIECE = /^(?:with )?([A-Z0-9_]+) <= (\d+)(?: in group (\S+))?$/
const TRAIT = /^without trait (\S+)$/

/** `without trait CUSTOM_NVLINK: 3 roots` is `Leave out NVLINK`. */
export function changeSaid(sentence: string): string {
  const pieces = sentence.replace(/: \d+ roots?$/, '').split(' and ')
  const said = pieces.map(piece => {
    const [, resource, amount, group] = PIECE.exec(piece) ?? []
    if (resource !== undefined) return PAGE.askFor(amount!, plainTraits(resource), group ?? null)
    const [, trait] = TRAIT.exec(piece) ?? []
    return trait === undefined ? plainTraits(piece) : PAGE.drop(plainTraits(trait))
  })
  const text = said.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What is said of hosts that a change would make fit: `would do without NVLINK`. */
export const wouldDo = (sentence: string): string =>
  PAGE.wouldDo(plainTraits(sentence.replace(/: \d+ roots?$/, '').replaceAll('without trait ', 'without ')))

interface Together {
  text: string
  roots: number
}

/** The steps from one group to all; a last step that repeats the one before says nothing. */
export function togetherSaid(steps: readonly { condition: string; roots: number }[], groups: number): Together[] {
  const said = steps.map(({ condition, roots }) => ({ text: conditionSaid(condition), roots }))
  return groups < 2 && said.length > 1 ? said.slice(0, -1) : said
}

function conditionSaid(condition: string): string {
  const [, without] = /^the unsuffixed group alone, without trait (.+)$/.exec(condition) ?? []
  if (without !== undefined) return PAGE.leftOut(plainTraits(without))
  if (condition === 'the unsuffixed group alone') return PAGE.alone
  if (condition === 'all groups under one root') return PAGE.allGroups
  return plainTraits(condition)
}
