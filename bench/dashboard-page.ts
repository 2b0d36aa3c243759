// A page of the dashboard in a real browser, and how smoothly it moves.
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { percentile } from './statistics.ts'

/** Debian's, unless another is named. */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
const IN_PAGE = fileURLToPath(new URL('dashboard-in-page.js', import.meta.url))
/** 3,600 pixels a second: a wheel turned quickly. */
const SCROLL_PX_A_FRAME = 60

export interface Frames {
  p50Ms: number
  p95Ms: number
  longestMs: number
  over50: number
  /** Of the page's thread: the longest task, without the time in which other programs had the processor. */
  taskCpuMs: number
  /** Milliseconds of script in each second. */
  scriptMs: number
}

export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: ARGS })

/** Opens the page with nothing cached. Returns it with the milliseconds until the first machine can be used. */
export async function openPage(browser: Browser, url: string): Promise<{ page: Page; usableMs: number }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.addInitScript({ path: IN_PAGE })
  await page.goto(url)
  return { page, usableMs: await inPage<number>(page, 'usable') }
}

export type Motion = 'still' | 'scroll' | 'jump'

const inPage = <T>(page: Page, act: 'usable' | 'frames' | 'shownAt', wanted: object = {}): Promise<T> =>
  page.evaluate<T>(`bench.${act}(${JSON.stringify(wanted)})`)

/** Counts frames for some seconds, while the page is scrolled up and down, or jumps. */
export async function countFrames(page: Page, seconds: number, motion: Motion): Promise<Frames> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const script = async () =>
    (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0
  const browser = page.context().browser()!
  await browser.startTracing(page, { categories: ['toplevel'] })
  const before = await script()
  const took = await inPage<number[]>(page, 'frames', { ms: seconds * 1_000, motion, stepPx: SCROLL_PX_A_FRAME })
  const scriptMs = (((await script()) - before) * 1_000) / seconds
  const taskCpuMs = longestTask(await browser.stopTracing())
  await session.detach()
  const sorted = took.toSorted((a, b) => a - b)
  return {
    p50Ms: percentile(sorted, 0.5),
    p95Ms: percentile(sorted, 0.95),
    longestMs: sorted.at(-1) ?? 0,
    over50: sorted.filter(ms => ms > 50).length,
    taskCpuMs,
    scriptMs,
  }
}

interface TraceEvent {
  name: string
  pid: number
  tid: number
  /** Microseconds of the processor. */
  tdur?: number
  args?: { name?: string }
}

/** In milliseconds, of the thread that runs pages. */
function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const placeOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const named = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  const pages = new Set(named.map(placeOf))
  const tasks = traceEvents.filter(event => event.name.endsWith('RunTask') && pages.has(placeOf(event)))
  return tasks.reduce((longest, { tdur = 0 }) => Math.max(longest, tdur / 1_000), 0)
}

/** When the page first shows this machine in maintenance, or out of it. */
export const shownAt = (page: Page, name: string, inMaintenance: boolean): Promise<number> =>
  inPage(page, 'shownAt', { name, inMaintenance })

export const toTop = (page: Page): Promise<unknown> => page.evaluate('scrollTo({ top: 0 })')
