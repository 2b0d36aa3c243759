// Claims as fast as the server lets it until it is told to stop, beside a measurement in another process.
import { drive } from './client.ts'
import { SPREAD_3 } from './workloads.ts'

const [port, connections, providers] = process.argv.slice(2)
let isOver = false
process.once('message', () => (isOver = true))
const ledger = { providers: providers!.split(','), consumers: [] }
const next = () => (isOver ? undefined : SPREAD_3.next(ledger))
const measured = await drive({ port: Number(port), connections: Number(connections), expect: 204, next })
process.send?.(measured)
process.disconnect?.()
