// Redraws a picture on a terminal whenever something has changed, until Ctrl-C.
import { type Holdfast, isAway } from '../../client/index.ts'
import { followed, untilInterrupted } from '../followed-list.ts'
import { terminal } from '../terminal.ts'
import { cutTo } from '../width.ts'

/** Estimates and the words for days change without an event. */
const LOOK_EVERY_MS = 30_000

const [ENTER, LEAVE] = ['\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l']
const [HOME, TO_LINE_END, TO_SCREEN_END] = ['\u001b[H', '\u001b[K', '\u001b[J']

interface Redrawn<Seen> {
  kinds: readonly string[]
  look: () => Promise<Seen>
  /** `rows` is how many lines there is room for. */
  draw: (seen: Seen, rows: number) => string
  /** The time of day, for the last line. */
  clock: () => string
}

export async function redraw<Seen>(server: Holdfast, { kinds, look, draw, clock }: Redrawn<Seen>): Promise<void> {
  const { stdout } = terminal()
  await untilInterrupted(async signal => {
    // Taken first: what changes while we look is told after it.
    const after = await server.cursor()
    let seen = await look()
    let since = clock()
    const show = (foot: string) => {
      const { rows = 24, columns = 80 } = stdout
      const room = Math.max(rows - 1, 1)
      stdout.write(HOME + fitted(draw(seen, room), foot, room, columns))
    }
    const lookAgain = async () => {
      try {
        seen = await look()
        since = clock()
        show(`Live at ${since}. Ctrl-C ends it.`)
      } catch (error) {
        if (!isAway(error)) throw error
        show(`Not live since ${since}: the server does not answer. You see what was true then.`)
      }
    }
    const resized = () => show(`Live at ${since}. Ctrl-C ends it.`)
    stdout.write(ENTER)
    stdout.on('resize', resized)
    try {
      resized()
      await followed(server, { after, kinds, look: lookAgain, signal, everyMs: LOOK_EVERY_MS })
    } finally {
      stdout.off('resize', resized)
      stdout.write(LEAVE)
    }
  })
}

/** What has no room below is counted. The last line is the foot. */
function fitted(text: string, foot: string, room: number, columns: number): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`]
  const all = [...shown, cutTo(foot, columns)]
  return all.map(line => line + TO_LINE_END).join('\r\n') + TO_SCREEN_END
}
