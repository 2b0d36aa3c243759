// Loaded into a server under test with --import: on SIGUSR2 it writes the longest stall of the event loop since the last
// time, the most CPU time of a turn, and the memory of the process, to the file that HOLDFAST_STALLS names.
import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const file = process.env['HOLDFAST_STALLS']
if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  let cpuMs = 0
  let before = threadCpuMs()
  // When the loop is busy, a timer of a millisecond runs once a turn.
  setInterval(() => {
    const now = threadCpuMs()
    cpuMs = Math.max(cpuMs, now - before)
    before = now
  }, 1).unref()
  process.on('SIGUSR2', () => {
    const found = { longestMs: delays.max / 1e6, cpuMs, rssBytes: process.memoryUsage.rss() }
    writeFileSync(`${file}.new`, JSON.stringify(found))
    renameSync(`${file}.new`, file)
    delays.reset()
    cpuMs = 0
    before = threadCpuMs()
  })
}

/** CPU time of the thread that answers: on a busy machine it says more than the stall, which others make longer. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
