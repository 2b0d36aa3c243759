// npm run simulate
import './time.ts'
import { FirstCast } from './clients/first.ts'
import { startServer } from './database.ts'
import { simulate } from './simulation.ts'

const [first, count, shows, faults='general'] = process.argv.slice(2)
const server = await startServer()
try {
  for (let seed = Number(first); seed < Number(first)+Number(count); seed++) {
    const print = shows==='y' ? (line: string) => console.log(line.slice(0, 400)) : undefined
    const { last, ...result } = await simulate(server, { seed, mix: 'first', faults, loadMs: 10_000, castFor: options => new FirstCast(options), ...(print && { print }) })
    console.log(JSON.stringify(result))
  }
} finally {
  await server.stop()
}
