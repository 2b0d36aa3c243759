// What someone typed into the search of the audit, as the questions to ask: the first that finds something is the answer.
import type { Query } from '../../../../src/client/wire.ts'

export function questionsIn(text: string): Query[] {
  const sought = text.trim()
  if (sought === '') return [{}]
  if (sought.startsWith('req-')) return [{ request_id: sought }]
  if (/^[a-z_]+:[a-z_:]+$/.test(sought)) return [{ action: sought }]
  return [{ object: sought }, { user: sought }, { project: sought }]
}

/** How far back: names of the choices, with the hours that each means. */
export const PERIODS = { hour: 1, day: 24, week: 168, all: null } as const
export type Period = keyof typeof PERIODS

export const isPeriod = (word: string | undefined): word is Period => word !== undefined && Object.hasOwn(PERIODS, word)

export function sinceOf(period: Period, now: number): string | undefined {
  const hours = PERIODS[period]
  return hours === null ? undefined : new Date(now - hours * 3_600_000).toISOString().slice(0, 19) + 'Z'
}
