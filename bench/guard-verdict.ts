// Decides whether the rounds of a load show a loss, and says so in words.
import { median, percentile } from './statistics.ts'

/** A turn of one version. */
export interface Turn {
  perSecond: number
  cpuMicroseconds: number
}

/** A turn of each, one right after the other. */
export interface Round {
  ours: Turn
  theirs: Turn
}

export interface Look {
  /** Medians over the rounds: ours in times of theirs. */
  rateTimes: number
  cpuTimes: number
  /** Which of the two show a loss of more than LOSS_MAX. */
  lost: ('throughput' | 'CPU')[]
}

export const LOSS_MAX = 0.15
const CPU_ROUNDS = 4

export function lookAt(rounds: readonly Round[]): Look {
  const rates = rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)
  const cpu = (some: readonly Round[], side: keyof Round) =>
    some.reduce((sum, one) => sum + one[side].cpuMicroseconds, 0)
  const costs = groups(rounds).map(some => cpu(some, 'ours') / Math.max(cpu(some, 'theirs'), Number.MIN_VALUE))
  const lost: Look['lost'] = []
  if (isLoss(rates)) lost.push('throughput')
  if (isLoss(costs.map(times => 1 / times))) lost.push('CPU')
  return { rateTimes: median(rates), cpuTimes: median(costs), lost }
}

/** CPU is counted in hundredths of a second: too coarse for one turn. */
function groups(rounds: readonly Round[]): Round[][] {
  const count = Math.ceil(rounds.length / CPU_ROUNDS)
  return Array.from({ length: count }, (_, at) => rounds.slice(at * CPU_ROUNDS, (at + 1) * CPU_ROUNDS))
}

/** The median lost too much, and three rounds of four lost something: a few bad rounds alone are noise. */
function isLoss(times: readonly number[]): boolean {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.length > 0 && percentile(sorted, 0.5) < 1 - LOSS_MAX && percentile(sorted, 0.75) < 1
}

/** Another look is needed if only one of the two shows a loss. */
export const isDoubtful = (look: Look) => look.lost.length === 1

/** Whether it is lost for sure: in throughput and CPU, or in the same of them again. */
export function isLost(first: Look, second: Look | undefined): boolean {
  return first.lost.length === 2 || first.lost.some(what => second?.lost.includes(what))
}

export function inWords(what: string, looks: readonly Look[]): string {
  const { rateTimes, cpuTimes } = looks.at(-1)!
  const percent = (share: number) => `${Math.abs(Math.round(share * 100))} %`
  const rate = `its throughput ${rateTimes < 1 ? 'fell' : 'grew'} by ${percent(rateTimes - 1)}`
  const cpu = `its CPU ${cpuTimes > 1 ? 'grew' : 'fell'} by ${percent(cpuTimes - 1)}`
  return `${what} got slower: ${rate}, ${cpu}${looks.length > 1 ? ', seen in two looks' : ''}`
}
