// Times as people read them: by the clock on their wall.
import { systemClock } from '../clock/clock.ts'
import { type Around, offsetAt, shownFully, shownWhen, zoneShown } from '../shared/when.ts'
import { terminal } from './terminal.ts'

/** The terminal's zone: what TZ says, else the machine's, else UTC. */
function localZone(): string {
  const said = terminal().env['TZ']?.replace(/^:/, '')
  return [said, Temporal.Now.timeZoneId()].find(isZone) ?? 'UTC'
}

function isZone(name: string | undefined): name is string {
  if (!name) return false
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return name !== 'Etc/Unknown'
  } catch {
    return false
  }
}

/** For whatever is shown and read here. */
export const hereAndNow = (toward: 'future' | 'past' = 'future'): Around => ({
  now: systemClock.now(),
  zone: localZone(),
  toward,
})

/** Within this time, seconds count. */
const CLOSE_MS = 10 * 60_000

/** An instant in a sentence: `today 15:00 CET`, or to the second if that is close. */
export function localTime(at: number | string): string {
  const around = hereAndNow()
  const ms = typeof at === 'number' ? at : Date.parse(at)
  const shown = shownWhen(ms, around, Math.abs(ms - around.now) < CLOSE_MS ? 'second' : 'minute')
  const zone = zoneShown(ms, around.zone)
  return shown.endsWith(zone) ? shown : `${shown} ${zone}`
}

/** With the date, for lines that are read later: `Tue 17 Nov 14:00:42 CET`. */
export const localStamp = (at: string): string => shownFully(Date.parse(at), hereAndNow(), 'second')

/** A sentence of the server, with its instants by the clock on the wall. */
export const inLocalTimes = (sentence: string): string =>
  sentence.replaceAll(/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|\+00:00)/g, localTime)

type Row = Readonly<Record<string, unknown>>

const TIMES = /(^|_)(at|date|until|end|start|since)$/
const INSTANT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?:Z|\+00:00)?$/

/** The APIs answer in UTC, whether they say so or not. */
function instantOf(name: string, value: unknown): number | null {
  const [, date, time] = (typeof value === 'string' && TIMES.test(name) && INSTANT.exec(value)) || []
  return date === undefined ? null : Date.parse(`${date}T${time}Z`)
}

/** Rows whose times are local; to the second in the column of a log (`at`). The headings say the zone: `expires_at (CET)`, with both if clocks are set in between. */
export function withLocalTimes(names: readonly string[], rows: readonly Row[]): { headings: string[]; rows: Row[] } {
  const around = hereAndNow()
  const zones = new Map(names.map(name => [name, new Map<number, number>()]))
  const shown = rows.map(row => {
    const times = names.flatMap(name => {
      const at = instantOf(name, row[name])
      if (at === null) return []
      zones.get(name)!.set(offsetAt(at, around.zone), at)
      return [[name, shownWhen(at, around, name === 'at' ? 'second' : 'minute')]]
    })
    return times.length === 0 ? row : { ...row, ...Object.fromEntries(times) }
  })
  const headings = names.map(name => {
    const said = [...zones.get(name)!.values()].map(at => zoneShown(at, around.zone))
    return said.length === 0 ? name : `${name} (${said.join(', ')})`
  })
  return { headings, rows: shown }
}

/** Of one thing each time has its zone. */
export function fieldWithLocalTime(name: string, value: unknown): unknown {
  const at = instantOf(name, value)
  return at === null ? value : localTime(at)
}
