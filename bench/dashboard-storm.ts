// Changes machines through the API at a steady rate, in a process of its own: PORT, CHANGES A SECOND, SECONDS, UUIDS (a file).
// Prints how many changes a second it made.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, text } from './allocations-fleet.ts'
import { Connection } from './candidates-client.ts'

const CONNECTIONS = 8

const [port = 0, rate = 0, seconds = 0] = process.argv.slice(2, 5).map(Number)
const nodes = JSON.parse(readFileSync(process.argv[5]!, 'utf8')) as string[]
const began = performance.now()
const due = (change: number) => began + (change * 1_000) / rate
const changes = rate * seconds
let next = 0

/** Each machine goes into maintenance and comes back: tile, word, counts and filters follow. */
async function work(connection: Connection): Promise<void> {
  for (let change = next++; change < changes; change = next++) {
    const wait = due(change) - performance.now()
    if (wait > 0) await sleep(wait)
    // A prime step spreads the changes over the fleet; the second time around, they are taken back.
    const node = nodes[(change * 7_919) % nodes.length]!
    const isBack = Math.floor((change * 7_919) / nodes.length) % 2 === 1
    const path = `/nodes/${node}/maintenance`
    await ask(connection, isBack ? text('DELETE', path) : text('PUT', path, { reason: `change ${change}` }), 202)
  }
  connection.close()
}

await Promise.all(Array.from({ length: CONNECTIONS }, () => work(new Connection(port))))
console.log(JSON.stringify({ perSecond: changes / ((performance.now() - began) / 1_000) }))
