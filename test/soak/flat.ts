// Whether what was measured stays as it is: a line through the last two thirds, and how far it rises.
export interface Sample {
  /** Seconds since the beginning. */
  at: number
  value: number
}

export interface Tolerance {
  /** Of the mean. */
  share: number
  /** What is less than this is no growth, whatever the mean is. */
  least: number
  /** Below this it may grow: it is what the thing is allowed to have. */
  free?: number
}

export interface Verdict {
  name: string
  first: number
  last: number
  /** From the beginning of the last two thirds to the end. */
  growth: number
  allowed: number
  isFlat: boolean
}

const PARTS = 12

/** Of each part of the time the smallest: what a garbage collector or a checkpoint leaves. */
function floors(samples: readonly Sample[]): Sample[] {
  const size = Math.max(1, Math.ceil(samples.length / PARTS))
  const parts: Sample[] = []
  for (let at = 0; at < samples.length; at += size) {
    parts.push(samples.slice(at, at + size).reduce((least, one) => (one.value < least.value ? one : least)))
  }
  return parts
}

/** How much the line of least squares rises in a second. */
export function slopeOf(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length
  const [at, value] = [mean(samples.map(one => one.at)), mean(samples.map(one => one.value))]
  const over = samples.reduce((sum, one) => sum + (one.at - at) * (one.value - value), 0)
  const under = samples.reduce((sum, one) => sum + (one.at - at) ** 2, 0)
  return under === 0 ? 0 : over / under
}

export function judge(name: string, samples: readonly Sample[], { share, least, free = 0 }: Tolerance): Verdict {
  const late = floors(samples.slice(Math.floor(samples.length / 3)))
  const seconds = late.at(-1)!.at - late[0]!.at
  const mean = late.reduce((sum, one) => sum + one.value, 0) / late.length
  const growth = slopeOf(late) * seconds
  const allowed = Math.max(least, share * mean)
  const most = Math.max(...late.map(one => one.value))
  const isFlat = growth <= allowed || most <= free
  return { name, first: samples[0]!.value, last: samples.at(-1)!.value, growth, allowed, isFlat }
}
