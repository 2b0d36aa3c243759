// Loaded into a server under test with --import: on SIGUSR2 it writes the longest stall of the event loop since the last
// time, what the longest would be if its thread had never waited for a core, the most CPU time of a turn, and the memory of
// the process, to the file that HOLDFAST_STALLS names.
import { openSync, readSync, renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const file = process.env['HOLDFAST_STALLS']
if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const threadMs = openClock()
  let [cpuMs, ownMs] = [0, 0]
  let before = threadMs()
  // When the loop is busy, a timer of a millisecond runs once a turn.
  setInterval(() => {
    const now = threadMs()
    cpuMs = Math.max(cpuMs, now.cpu - before.cpu)
    ownMs = Math.max(ownMs, now.wall - before.wall - (now.waited - before.waited))
    before = now
  }, 1).unref()
  process.on('SIGUSR2', () => {
    const found = { longestMs: delays.max / 1e6, ownMs, cpuMs, rssBytes: process.memoryUsage.rss() }
    writeFileSync(`${file}.new`, JSON.stringify(found))
    renameSync(`${file}.new`, file)
    delays.reset()
    cpuMs = ownMs = 0
    before = threadMs()
  })
}

/** Of this thread: its CPU time, and how long it was ready to run while others had the cores. They make a stall longer. */
function openClock(): () => { wall: number; cpu: number; waited: number } {
  const text = Buffer.alloc(100)
  const schedule = openSync('/proc/thread-self/schedstat', 'r')
  return () => {
    const { user, system } = process.threadCpuUsage()
    const length = readSync(schedule, text, 0, text.length, 0)
    const waited = Number(text.toString('latin1', 0, length).split(' ')[1]) / 1e6
    return { wall: performance.now(), cpu: (user + system) / 1_000, waited }
  }
}
