// The server's clock, and the zone that times are shown in. Countdowns follow the server, not the viewer's computer.
import { createSignal } from 'solid-js'
import { type Around, durationIn, instantIn, shownSpan, shownWhen, zoneShown } from '../../../src/shared/when.ts'
import { kept, keep } from './settings.ts'

let aheadMs = 0
const MINUTE_MS = 60_000

/** What time it is for the server. */
export const serverNow = () => Date.now() + aheadMs

const [minute, setMinute] = createSignal(serverNow())
/** The same as `serverNow`, told once a minute: what is shown with it changes by itself. */
export { minute }

const [second, setSecond] = createSignal(serverNow())
/** Told once a second. Only for what ends within two minutes. */
export { second }

/** Takes over the server's clock, as an answer said it. */
export function setServerNow(now: string): void {
  const ahead = Date.parse(now) - Date.now()
  // Within the time that an answer takes, clocks are alike: countdowns don't jump.
  if (Math.abs(ahead - aheadMs) < 500) return
  aheadMs = ahead
  setMinute(serverNow())
}

setInterval(() => {
  const now = serverNow()
  setSecond(now)
  if (Math.floor(now / MINUTE_MS) !== Math.floor(minute() / MINUTE_MS)) setMinute(now)
}, 1_000)

const LOCAL = new Intl.DateTimeFormat().resolvedOptions().timeZone
const [isUtc, setIsUtc] = createSignal(kept('utc') === 'yes')
export { isUtc }
export const zone = () => (isUtc() ? 'UTC' : LOCAL)

export function switchZone(): void {
  setIsUtc(!isUtc())
  keep('utc', isUtc() ? 'yes' : null)
}

const around = (): Around => ({ now: minute(), zone: zone() })
const msOf = (at: string | number) => (typeof at === 'string' ? Date.parse(at) : at)

/** `today 20:07`, `tomorrow 02:07`, `Fri 19:00`, `Fri 20 Nov 19:00`. */
export const when = (at: string | number): string => shownWhen(msOf(at), around())
/** `1 h 56 min`, `2 d`. */
export const lasting = (ms: number): string => shownSpan(ms)
/** How long until then: `1 h 56 min`; by the second when it is near. */
export const left = (at: string | number): string => {
  const ms = msOf(at) - minute()
  return shownSpan(Math.max(0, ms < 2 * MINUTE_MS ? msOf(at) - second() : ms))
}
/** For titles: `2026-11-15 17:12 UTC`. */
export const utc = (at: string | number): string =>
  `${new Date(msOf(at)).toISOString().slice(0, 16).replace('T', ' ')} UTC`
/** A stretch of time: `Fri 20 Nov 09:00 to Sun 09:00`; what is near its start needs no date. */
export const stretch = (start: number, end: number): { start: string; end: string } => ({
  start: when(start),
  end: end - start < NEAR_MS ? `${weekday(end)} ${wallTime(end)}` : when(end),
})
const NEAR_MS = 6 * 24 * 60 * MINUTE_MS
const weekday = (at: number) => new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: zone() }).format(at)
/** `18:12`. */
export const wallTime = (at: string | number): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: zone() }).format(msOf(at))
/** `CET`. */
export const zoneName = (at: string | number = minute()): string => zoneShown(msOf(at), zone())

/** The instant that someone typed, `tue 14:00`; null if it isn't clear. */
export const instantTyped = (text: string): number | null => instantIn(text, { now: serverNow(), zone: zone() })
/** The span that someone typed, `2d`; null if it isn't clear. */
export const spanTyped = (text: string): number | null => durationIn(text)
