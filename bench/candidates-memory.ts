// Loads a ledger into memory as a server does, and prints the time and the memory it took. Run with --expose-gc.
import { Mirror } from '../src/ledger/mirror.ts'
import { openStore } from '../src/store/open.ts'

const used = () => {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const store = openStore(process.argv[2] ?? '')
await store.ping()
const mirror = new Mirror(store, error => {
  throw error
})
const before = used()
const start = performance.now()
await mirror.load()
const ms = performance.now() - start
const peakBytes = process.resourceUsage().maxRSS * 1024
console.log(JSON.stringify({ ms, bytes: used() - before, peakBytes, providers: mirror.table.size }))
await store.close()
