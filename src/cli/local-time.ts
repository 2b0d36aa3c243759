// Options that take a time as people say it.
import { UsageError } from '../shared/usage-error.ts'
import { type Around, durationIn, instantIn, shownFully, unclearIn } from '../shared/when.ts'
import { tell } from './output.ts'
import { hereAndNow } from './wall-clock.ts'

export { hereAndNow, localTime } from './wall-clock.ts'

interface Said {
  /** Before the time, when it is told how it was understood: `until`, `from`, `since`. */
  word: string
  /** Where `fri` and `2h` are looked for. A time ahead has to lie ahead. */
  toward?: 'future' | 'past'
}

/** The instant in what someone typed. Tells them how it was understood, unless they have said it exactly. */
export function instantSaid(text: string, { word, toward = 'future' }: Said): number {
  const around = hereAndNow(toward)
  const at = instantIn(text, around)
  if (at === null) throw notATime(text)
  const isOver = toward === 'future' && at < around.now
  if (isOver) throw new UsageError(`${text} means ${shownFully(at, around)}, which is over`)
  if (!isExact(text, around)) tell(`${word} ${shownFully(at, around)}`)
  return at
}

/** For the help of an option that takes an end. */
export const END_FORMS = '2h, 18:00, tomorrow 9:00, fri 18:00, 20 Nov 9:00'

/** An option that takes an instant: for the server in UTC. */
export const timeFlag =
  (word: string, toward: 'future' | 'past' = 'future') =>
  (text: string) =>
    new Date(instantSaid(text, { word, toward })).toISOString()

/** An option that takes an instant or how long from now. That stays a span, because the server's clock may be another. */
export const endFlag = (word: string) => (text: string) => {
  const span = spanSaid(text)
  return span === null ? timeFlag(word)(text) : `${Math.ceil(span / 1_000)}s`
}

/** null if it is an instant, or a number that may be anything. */
function spanSaid(text: string): number | null {
  return /^\s*\d+\s*$/.test(text) ? null : durationIn(text.replace(/^\s*(?:in |\+)/i, ''))
}

const isExact = (text: string, { zone }: Around) =>
  text.trim() === 'now' ||
  spanSaid(text) !== null ||
  /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/i.test(text) ||
  (zone === 'UTC' && /^\s*\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(text))

function notATime(text: string): UsageError {
  const hint = unclearIn(text)
  const forms = `such as ${END_FORMS} or 2030-01-01T10:00:00Z`
  return new UsageError(hint === null ? `'${text}' is no time ${forms}` : `'${text}' is not clear: ${hint}`)
}
