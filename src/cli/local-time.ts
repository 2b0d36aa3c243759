// Instants as people read them: by the clock on their wall.

const FORM = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

/** `15:00:42`, with the date if that is another day. */
export function localTime(at: number, now: number): string {
  const [[day, time], [today]] = [at, now].map(instant => FORM.format(instant).split(' ')) as [string[], string[]]
  return day === today ? time! : `${day} ${time}`
}
