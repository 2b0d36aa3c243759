// Measures the dashboard in a real browser: how soon it can be used, and how smoothly it moves with a large fleet, while
// it is scrolled and while another process changes 200 machines a second.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { firstPages } from '../test/support/first-page.ts'
import { ask, makeNodes, text } from './allocations-fleet.ts'
import { Connection } from './candidates-client.ts'
import { countFrames, type Frames, type Motion, openBrowser, openPage, shownAt, toTop } from './dashboard-page.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { freePort, holdfast, runCommand, type Server, startServer } from './server.ts'
import { median, medianBy } from './statistics.ts'

const STORM = fileURLToPath(new URL('dashboard-storm.ts', import.meta.url))
const FLEET = 10_000
const SMALL_FLEET = 300
const RACK = 40
const CHANGES_A_SECOND = 200
/** The storm begins before what is measured, and ends after it. */
const STORM_MARGIN_SECONDS = 2
const CHANGES_SHOWN = 10

const BYTES_MAX = 150_000
const USABLE_MS_MAX = 1_000
const FRAME_MS_MAX = 50
const SHOWN_MS_MAX = 500

type Measured = BenchOptions & { browser: Browser; report: Report }

export async function benchDashboard(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Dashboard: in a browser',
    measured: {
      columns: ['frames', 'p50 ms', 'p95 ms', 'longest ms', 'over 50 ms', 'longest task, CPU ms', 'script ms/s'],
      rows: [],
    },
    limits: { columns: ['besides', 'measured', 'at most'], rows: [] },
    goals: [],
    faults: [],
  }
  const browser = await openBrowser()
  const measured = { ...options, browser, report }
  try {
    const bytes = Math.max(...firstPages().values())
    besides(report, 'bytes of JavaScript, gzipped, for the largest page if it is the first', bytes, BYTES_MAX)
    await withFleet(SMALL_FLEET, measured, async server => {
      const usable: number[] = []
      for (let round = 0; round < options.rounds; round++) usable.push(await timeToUse(server, browser))
      besides(report, `ms until ${SMALL_FLEET} machines can be used`, median(usable), USABLE_MS_MAX)
    })
    await withFleet(FLEET, measured, (server, nodes) => benchFleet(server, nodes, measured))
  } finally {
    await browser.close()
  }
  return report
}

function besides(report: Report, what: string, value: number, most: number): void {
  report.limits.rows.push([what, figure(value), figure(most)])
  report.goals.push({ text: what, value: most / value, atLeast: 1 })
}

async function withFleet(
  count: number,
  { progress }: Measured,
  act: (server: Server, nodes: string[]) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-dashboard-'))
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', `sqlite:${join(folder, 'bench.db')}`]
  const server = await startServer({ argv, port, readyPath: '/baremetal/' })
  try {
    progress(`${count} machines`)
    let next = 0
    const fields = () => {
      const at = next++
      const rack = `rack-${String(Math.floor(at / RACK)).padStart(3, '0')}`
      const fields = {
        name: `${rack}-${String(at % RACK).padStart(2, '0')}`,
        'extra/rack': rack,
        resource_class: `class-${at % 8}`,
      }
      return at % 2 === 0 ? fields : { ...fields, instance_uuid: crypto.randomUUID() }
    }
    await act(server, await makeNodes(port, count, fields))
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

async function timeToUse({ origin }: Server, browser: Browser): Promise<number> {
  const { page, usableMs } = await openPage(browser, `${origin}/ui/now`)
  await page.context().close()
  return usableMs
}

async function benchFleet(server: Server, nodes: string[], measured: Measured): Promise<void> {
  const { browser, report } = measured
  for (const view of ['tiles', 'table']) {
    const { page, usableMs } = await openPage(browser, `${server.origin}/ui/now?view=${view}`)
    report.limits.rows.push([`ms until ${FLEET} machines can be used, ${view}`, figure(usableMs), '–'])
    await measureFrames(page, `${view}, quiet, scrolled`, 'scroll', measured)
    await measureFrames(page, `${view}, quiet, jumping`, 'jump', measured)
    await toTop(page)
    if (view === 'tiles') await measureShown(server, page, measured)
    await withStorm(server, nodes, 2 * measured.rounds * measured.seconds, report, async () => {
      await measureFrames(page, `${view}, ${CHANGES_A_SECOND} changes a second`, 'still', measured)
      await measureFrames(page, `${view}, ${CHANGES_A_SECOND} changes a second, scrolled`, 'scroll', measured)
    })
    await page.context().close()
  }
}

async function measureFrames(page: Page, what: string, motion: Motion, measured: Measured): Promise<void> {
  const { seconds, rounds, progress, report } = measured
  progress(what)
  const all: Frames[] = []
  for (let round = 0; round < rounds; round++) all.push(await countFrames(page, seconds, motion))
  const { p50Ms, p95Ms, longestMs, over50, taskCpuMs, scriptMs } = medianBy(all, one => one.longestMs)
  const [frames, tasks] = [[p50Ms, p95Ms, longestMs].map(figure), [taskCpuMs, scriptMs].map(figure)]
  report.measured.rows.push([what, ...frames, over50, ...tasks])
  const goal = `${what}: longest frame ${figure(longestMs)} of at most ${FRAME_MS_MAX} ms, fits`
  report.goals.push({ text: goal, value: FRAME_MS_MAX / longestMs, atLeast: 1 })
}

/** How long a change takes from its request to the screen. */
async function measureShown({ port }: Server, page: Page, { report, progress }: Measured): Promise<void> {
  progress('a change until it is shown')
  const [name, connection, took] = ['rack-000-00', new Connection(port), [] as number[]]
  for (let change = 0; change < CHANGES_SHOWN; change++) {
    const isOn = change % 2 === 0
    const shown = shownAt(page, name, isOn)
    const began = Date.now()
    const path = `/nodes/${name}/maintenance`
    await ask(connection, isOn ? text('PUT', path, { reason: 'bench' }) : text('DELETE', path), 202)
    took.push((await shown) - began)
  }
  connection.close()
  besides(report, 'ms from a change to the screen', median(took), SHOWN_MS_MAX)
}

async function withStorm(
  { port }: Server,
  nodes: string[],
  seconds: number,
  report: Report,
  act: () => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-storm-'))
  const file = join(folder, 'nodes.json')
  writeFileSync(file, JSON.stringify(nodes))
  const argv = [process.execPath, STORM, port, CHANGES_A_SECOND, Math.ceil(seconds + 2 * STORM_MARGIN_SECONDS), file]
  const storm = runCommand(argv.map(String))
  await act()
  const { status, output } = await storm
  rmSync(folder, { recursive: true })
  if (status !== 0) report.faults.push(`the storm ended with ${status}: ${output.slice(-300)}`)
  else report.limits.rows.push(['changes a second in the storm', figure(perSecondIn(output)), CHANGES_A_SECOND])
}

const perSecondIn = (output: string) => (JSON.parse(output) as { perSecond: number }).perSecond
