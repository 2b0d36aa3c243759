// A proxy to PostgreSQL that can fail: fall silent, cut connections, or lose one answer.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Proxy {
  /** The target's address through this proxy. */
  url: string
  /** New connections work again; silent ones stay silent, as behind a firewall that forgot them. */
  pass(): void
  /** Present and new connections stay open, but nothing passes in either direction. */
  silence(): void
  /** Resets the present connections; new ones work. */
  cut(): void
  /** As if no server ran: present and new connections are reset, until `pass`. */
  refuse(): void
  /** Once, on the connection that next sends `asked`: drops the first answer with `answer`, then cuts or mutes it. */
  swallowAnswerTo(asked: string, options?: { answer?: string; fault?: 'cut' | 'silence' }): Promise<void>
  stop(): Promise<void>
}

interface Wire {
  near: Socket
  far: Socket
  isSilent: boolean
  awaited: Trap | null
}

interface Trap {
  asked: string
  answer: string
  fault: 'cut' | 'silence'
  sprung: () => void
}

export async function startProxy(targetUrl: string): Promise<Proxy> {
  const target = new URL(targetUrl)
  const wires = new Set<Wire>()
  let isSilent = false
  let isRefused = false
  let trap: Trap | null = null

  const server = createServer(near => {
    if (isRefused) {
      near.resetAndDestroy()
      return
    }
    const wire: Wire = { near, far: connectTo(target), isSilent, awaited: null }
    wires.add(wire)
    near.on('data', chunk => {
      if (wire.isSilent) return
      if (trap && chunk.includes(trap.asked)) {
        wire.awaited = trap
        trap = null
      }
      wire.far.write(chunk)
    })
    wire.far.on('data', chunk => {
      if (wire.isSilent) return
      if (wire.awaited && chunk.includes(wire.awaited.answer)) spring(wire, wire.awaited)
      else near.write(chunk)
    })
    joinEnds(wire, () => wires.delete(wire))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const { port } = server.address() as AddressInfo
  const user = target.username ? `${target.username}${target.password && `:${target.password}`}@` : ''
  return {
    url: `${target.protocol}//${user}127.0.0.1:${port}${target.pathname}${target.search}`,
    pass() {
      isSilent = false
      isRefused = false
    },
    silence() {
      isSilent = true
      for (const wire of wires) wire.isSilent = true
    },
    cut: () => wires.forEach(cutWire),
    refuse() {
      isRefused = true
      wires.forEach(cutWire)
    },
    swallowAnswerTo(asked, { answer = 'COMMIT\0', fault = 'cut' } = {}) {
      const { promise, resolve } = Promise.withResolvers<void>()
      trap = { asked, answer, fault, sprung: resolve }
      return promise
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      wires.forEach(cutWire)
      await closed
    },
  }
}

export function connectTo(target: URL): Socket {
  const host = decodeURIComponent(target.hostname)
  const port = Number(target.port || 5432)
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
}

function spring(wire: Wire, { fault, sprung }: Trap): void {
  wire.awaited = null
  if (fault === 'cut') cutWire(wire)
  else wire.isSilent = true
  sprung()
}

function cutWire({ near, far }: Wire): void {
  near.resetAndDestroy()
  far.destroy()
}

/** If one side closes, closes the other too, unless the wire is silent. */
function joinEnds(wire: Wire, ended: () => void): void {
  const { near, far } = wire
  near.on('error', () => {})
  far.on('error', () => {})
  near.on('close', () => {
    if (!wire.isSilent) far.destroy()
  })
  far.on('close', () => {
    if (!wire.isSilent) near.destroy()
    if (near.destroyed) ended()
  })
}
