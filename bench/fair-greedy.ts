// The greedy clients of the fair bench, in a process of their own. Prints how often they did it in a second.
import { repeat } from './candidates-client.ts'
import { kinds } from './fair-kinds.ts'

const [port, provider, what, connections, seconds] = process.argv.slice(2)
const act = kinds(provider!)
  .find(kind => kind.what === what)!
  .act('admin:office')
const at = { port: Number(port), connections: Number(connections), seconds: Number(seconds) }
const { perSecond } = await repeat(at, async connection => void (await act(connection)))
console.log(perSecond)
