// Loaded into a server under test with --import: on SIGUSR2 it writes the longest stall of the event loop since the last
// time, and the memory of the process, to the file that HOLDFAST_STALLS names.
import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const file = process.env['HOLDFAST_STALLS']
if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  process.on('SIGUSR2', () => {
    writeFileSync(`${file}.new`, JSON.stringify({ longestMs: delays.max / 1e6, rssBytes: process.memoryUsage.rss() }))
    renameSync(`${file}.new`, file)
    delays.reset()
  })
}
