// For the tests of holdfast move: two servers, and a gate before one of them that can shut or answer by itself.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { typeHoldfast } from '../support/command.ts'
import type { Placement } from '../support/placement.ts'
import type { Exit, Server } from '../support/server.ts'

export const OPEN = { auth: 'none', placementPolicy: 'secure' } as const

const NOBODY = { TZ: 'UTC', OS_CLOUD: '', OS_AUTH_URL: '', OS_USERNAME: '', HOME: '/nonexistent', OS_TOKEN: 'admin' }

export const moves = (line: string, environment: Record<string, string> = {}): Promise<Exit> =>
  typeHoldfast(['move', ...line.split(' ')], { environment: { ...NOBODY, ...environment } })

export async function movesTo(code: number, line: string): Promise<Exit> {
  const exit = await moves(line)
  assert.equal(exit.code, code, `${line}: ${exit.stderr}${exit.stdout}`)
  return exit
}

interface GateOptions {
  /** How many requests it lets through before it is shut. */
  passes?: number
  /** The body of an answer that doesn't come from behind the gate; null to ask there. */
  answers?: (request: { method: string; path: string }) => unknown
}

/** Forwards requests to a server. */
export async function gateTo(
  origin: string,
  { passes = Infinity, answers = () => null }: GateOptions,
): Promise<Server> {
  let left = passes
  const gate = createServer((request, response) => {
    if (left-- <= 0) request.socket.destroy()
    else void forward(request, response)
  })
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [method, path] = [request.method!, request.url!]
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const own = answers({ method, path })
    if (own !== null) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(own))
      return
    }
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const body = Buffer.concat(chunks)
    const behind = await fetch(`${origin}${path}`, {
      method,
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    })
    response.writeHead(behind.status, { 'content-type': behind.headers.get('content-type') ?? 'text/plain' })
    response.end(await behind.text())
  }
  gate.listen(0, '127.0.0.1')
  await once(gate, 'listening')
  const stop = async () => {
    gate.closeAllConnections()
    gate.close()
    await once(gate, 'close')
  }
  return { origin: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`, stop }
}

/** A small cloud: two hosts, a card below the first, and servers on all of them. */
export async function fill(api: Placement) {
  await api.put('/resource_classes/CUSTOM_CARD')
  await api.put('/traits/CUSTOM_FAST')
  const rack = await api.provider({ VCPU: { total: 16, allocation_ratio: 4, reserved: 2 }, MEMORY_MB: 4096 })
  const card = await api.provider({ CUSTOM_CARD: { total: 4, max_unit: 2 } }, { parent: rack })
  const other = await api.provider({ VCPU: 8 })
  const generation = await api.generation(card)
  await api.put(`/resource_providers/${card}/traits`, {
    resource_provider_generation: generation,
    traits: ['CUSTOM_FAST', 'HW_GPU_API_VULKAN'],
  })
  await api.put(`/resource_providers/${rack}/aggregates`, {
    resource_provider_generation: await api.generation(rack),
    aggregates: [card],
  })
  return { rack, card, other }
}
