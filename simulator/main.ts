// npm run simulate
import './time.ts'
import { startServer } from './database.ts'
import { simulate } from './simulation.ts'

const seed = Number(process.argv[2] ?? 1)
const server = await startServer()
try {
  for (let i = 0; i < Number(process.argv[3] ?? 1); i++) {
    const print = process.argv[4] ? (line: string) => console.log(line.slice(0, 300)) : undefined
    const { last, ...result } = await simulate(server, { seed, ...(print && { print }) })
    console.log(result)
  }
} finally {
  await server.stop()
}
