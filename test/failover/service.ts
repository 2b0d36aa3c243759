// Holdfast as it is deployed: API processes and conductors on one database, each a process of its own.
import { spawnConductor, waitFor } from '../support/baremetal.ts'
import { type Command, runHoldfast, type Server, type ServerProcess, spawnServer } from '../support/server.ts'

const APIS = 2
const CONDUCTORS = 2

export interface Service {
  apis: ServerProcess[]
  /** One more API process, which has read everything just now. */
  fresh(): Promise<ServerProcess>
  stop(): Promise<void>
}

export async function startService(database: string): Promise<Service> {
  const { code, stderr } = await runHoldfast(['migrate', '--database', database]).exit
  if (code !== 0) throw new Error(`migrate: ${stderr}`)
  const apis: ServerProcess[] = []
  const conductors: Command[] = []
  const fresh = () => spawnServer(database, [], 'api')
  for (let at = 0; at < APIS; at++) apis.push(await fresh())
  for (let at = 0; at < CONDUCTORS; at++) conductors.push(await spawnConductor(database, `conductor-${at}`))
  return {
    apis,
    fresh,
    async stop() {
      for (const { child } of conductors) child.kill('SIGTERM')
      await Promise.all([...apis.map(api => api.stop()), ...conductors.map(({ exit }) => exit)])
    },
  }
}

/** Processes, and how to start one that reads everything. */
interface Compared {
  apis: readonly Pick<Server, 'origin'>[]
  fresh(): Promise<Server>
}

/** What a process has in memory: the ledger, the nodes and the calendar, in one text. */
async function memoryOf({ origin }: Pick<ServerProcess, 'origin'>, window: string): Promise<string> {
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${origin}${path}`, {
      headers: { 'x-auth-token': 'admin', 'openstack-api-version': 'placement 1.39' },
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Record<string, unknown>
  }
  const { providers } = await get('/holdfast/v1/capacity')
  const { machines, hosts, waiting, spans } = await get(`/holdfast/v1/status?spans=${encodeURIComponent(window)}`)
  const { provider_summaries } = await get('/placement/allocation_candidates?resources=VCPU:1&limit=1000')
  const inOrder = (list: unknown) => (list as object[]).map(one => JSON.stringify(sorted(one))).sort()
  const summaries = Object.entries(provider_summaries as object)
  return [providers, machines, hosts, waiting, spans, summaries].map(list => inOrder(list).join('\n')).join('\n\n')
}

/** With the members of objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, one]) => [name, sorted(one)] as const)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Waits until all of these have the same in memory as a process that has just read it. Returns what differs at last. */
export async function differingMemory(service: Compared, window: string): Promise<string[]> {
  const fresh = await service.fresh()
  try {
    let differing: string[] = []
    await waitFor('all have the same in memory', async () => {
      const wanted = await memoryOf(fresh, window)
      const found = await Promise.all(service.apis.map(api => memoryOf(api, window)))
      differing = found.flatMap((text, at) => (text === wanted ? [] : [`process ${at}: ${difference(text, wanted)}`]))
      return differing.length === 0
    }).catch(() => {})
    return differing
  } finally {
    await fresh.stop()
  }
}

function difference(found: string, wanted: string): string {
  const [here, there] = [found, wanted].map(text => new Set(text.split('\n')))
  const more = [...here!].filter(line => !there!.has(line)).slice(0, 3)
  const less = [...there!].filter(line => !here!.has(line)).slice(0, 3)
  return `has ${more.join(' ')} instead of ${less.join(' ')}`
}
