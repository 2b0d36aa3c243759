// Everything that goes on besides claims, allocations, holds and leases: nodes that come and go, lists, the board, streams,
// webhooks, and fsck now and then.
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Baremetal } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const FSCK_MS = 60_000
/** So long a stream is read until its reader comes anew. */
const STREAM_MS = 5_000
const READS = [
  '/placement/allocation_candidates?resources=VCPU:1&limit=10',
  '/placement/resource_providers',
  '/baremetal/v1/nodes?fields=uuid,provision_state',
  '/baremetal/v1/allocations',
  '/reservation/v1/leases',
  '/holdfast/v1/status',
  '/holdfast/v1/capacity',
  '/holdfast/v1/audit?limit=20',
]
const HEADERS = {
  'x-auth-token': 'admin',
  'openstack-api-version': 'placement 1.39',
  'x-openstack-ironic-api-version': '1.83',
}

export interface Others {
  /** Deliveries and events that came. */
  heard: { deliveries: number; events: number; boards: number }
  stop(): Promise<void>
}

interface Options {
  origins: readonly string[]
  pauseMs: number
  timed: (kind: string, ms: number) => void
  fault: (text: string) => void
}

export async function startOthers({ origins, pauseMs, timed, fault }: Options): Promise<Others> {
  const over = new AbortController()
  const heard = { deliveries: 0, events: 0, boards: 0 }
  const receiver = createServer((request, response) => {
    heard.deliveries++
    request.resume().on('end', () => response.writeHead(204).end())
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const metal = new Baremetal(...origins)
  const hook = { url: `http://127.0.0.1:${port}/`, types: ['allocation', 'lease', 'node'], project: null }
  expectStatus(await metal.operator('POST', '/webhooks', hook), 201)

  /** Does it again and again until it is over; what fails is a fault. */
  const repeat = async (kind: string, everyMs: number, act: (turn: number) => Promise<void>) => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const start = performance.now()
      await act(turn).then(
        () => timed(kind, performance.now() - start),
        error => over.signal.aborted || fault(`${kind}: ${String(error)}`),
      )
      await sleep(everyMs, null, { signal: over.signal }).catch(() => {})
    }
  }
  const originAt = (turn: number) => origins[turn % origins.length]!
  const running = [
    repeat('read', pauseMs, turn => read(`${originAt(turn)}${READS[turn % READS.length]!}`)),
    repeat('node', pauseMs * 4, () => nodeThatComesAndGoes(metal)),
    repeat('fsck', FSCK_MS, turn => fsck(originAt(turn))),
    repeat('stream', pauseMs, turn => follow(`${originAt(turn)}/holdfast/v1/events`, () => void heard.events++)),
    repeat('board', pauseMs, turn => follow(`${originAt(turn)}/holdfast/v1/status`, () => void heard.boards++)),
  ]
  return {
    heard,
    async stop() {
      over.abort()
      await Promise.all(running)
      metal.close()
      receiver.closeAllConnections()
      receiver.close()
    },
  }
}

async function read(url: string): Promise<void> {
  const answer = await fetch(url, { headers: HEADERS })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text.slice(0, 200)}`)
}

async function nodeThatComesAndGoes(metal: Baremetal): Promise<void> {
  const node = await metal.node({ resource_class: 'passing' }, 'available')
  expectStatus(await metal.del(`/v1/nodes/${node}`), 204)
}

async function fsck(origin: string): Promise<void> {
  const answer = await fetch(`${origin}/holdfast/v1/fsck`, { headers: HEADERS })
  const report = (await answer.json()) as { violations: number; invariants: { violations: number }[] }
  if (report.violations === 0) return
  throw new Error(JSON.stringify(report.invariants.filter(({ violations }) => violations > 0)))
}

/** Reads a stream for a while, and counts its pieces. */
async function follow(url: string, piece: () => void): Promise<void> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), STREAM_MS)
  try {
    const answer = await fetch(url, { headers: { ...HEADERS, accept: 'text/event-stream' }, signal: late.signal })
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
    for await (const _ of answer.body!) piece()
  } catch (error) {
    if (!late.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
  }
}
