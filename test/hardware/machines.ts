// QEMU machines behind OpenStack's Redfish emulator, each with a BMC of its own: a door in front of the emulator that
// shows one system, writes down what it is told to change, and can keep an answer back.
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('../../../shared/emulators/redfish/machines.sh', import.meta.url))
const TOOLS = ['libvirtd', 'virsh', 'qemu-system-x86_64', 'qemu-img', 'grub-mkrescue', 'xorriso', 'mformat', 'curl']

/** Why there can be no machines here, or false. */
export function noMachines(): string | false {
  if (!existsSync(SCRIPT)) return `needs the emulator: there is no ${SCRIPT}`
  if (process.getuid?.() !== 0) return 'needs root, for libvirt'
  const absent = TOOLS.filter(tool => spawnSync('which', [tool]).status !== 0)
  if (absent.length > 0) return `needs ${absent.join(', ')}`
  return spawnSync('virsh', ['-c', 'qemu:///system', 'dominfo', 'machine-1']).status === 0
    ? 'there are QEMU machines of someone else already'
    : false
}

/** A change that a BMC was told, in short: `On`, `InsertMedia`, `boot from Cd`. */
type Change = string

export class Door {
  readonly changes: Change[] = []
  address = ''
  readonly #emulator: string
  readonly #system: string
  readonly #serial: string
  readonly #server: Server
  #held: { change: Change; reached: () => void } | null = null

  constructor(emulator: string, { system, serial }: { system: string; serial: string }) {
    this.#emulator = emulator
    this.#system = system
    this.#serial = serial
    this.#server = createServer((request, response) => {
      void this.#pass(request, response).catch(() => response.destroy())
    })
  }

  async open(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    this.address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** Everything that the machine has written to its serial console. */
  get serial(): string {
    return existsSync(this.#serial) ? readFileSync(this.#serial, 'latin1') : ''
  }

  async power(): Promise<string> {
    return ((await this.#look('')) as { PowerState: string }).PowerState
  }

  /** The images in its slots. */
  async media(): Promise<string[]> {
    const slots = await Promise.all(['Cd', 'Floppy'].map(slot => this.#look(`/VirtualMedia/${slot}`)))
    return slots.flatMap(slot => {
      const { Inserted, Image } = slot as { Inserted: boolean; Image: string }
      return Inserted ? [Image] : []
    })
  }

  async #look(below: string): Promise<unknown> {
    return (await fetch(`${this.#emulator}${this.#system}${below}`)).json()
  }

  /** Resolves when this change is made; whoever asked for it never gets an answer. */
  keepBack(change: Change): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = { change, reached: resolve }
    return promise
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat((await request.toArray()) as Buffer[])
    const { method = 'GET', url = '/' } = request
    const headers = { 'content-type': 'application/json' }
    const sent = body.length > 0 ? { body, headers } : {}
    const answer = await fetch(`${this.#emulator}${url}`, { method, redirect: 'manual', ...sent })
    const text = this.#narrowed(url, await answer.text())
    if (method !== 'GET' && answer.status < 300) {
      const change = changeOf(url, body.toString())
      this.changes.push(change)
      if (this.#held?.change === change) {
        this.#held.reached()
        this.#held = null
        return
      }
    }
    const type = answer.headers.get('content-type')
    response.writeHead(answer.status, type === null ? {} : { 'content-type': type })
    response.end(answer.status === 204 ? undefined : text)
  }

  /** Of all systems of the emulator this BMC has one. */
  #narrowed(url: string, text: string): string {
    if (!/^\/redfish\/v1\/Systems\/?$/.test(url)) return text
    const listed = JSON.parse(text) as object
    return JSON.stringify({ ...listed, Members: [{ '@odata.id': this.#system }], 'Members@odata.count': 1 })
  }
}

function changeOf(url: string, body: string): Change {
  const { ResetType, Boot } = (body === '' ? {} : JSON.parse(body)) as { ResetType?: string; Boot?: object }
  if (ResetType !== undefined) return ResetType
  if (Boot) return `boot from ${(Boot as { BootSourceOverrideTarget?: string }).BootSourceOverrideTarget}`
  return url.replace(/^.*VirtualMedia\./, '')
}

export interface Machines {
  readonly doors: readonly Door[]
  /** The URL of an ISO that prints the word on the serial console. */
  iso(word: string): string
  stop(): void
}

/** So many machines, each behind a door of its own. All of it is gone after `stop`. */
export async function startMachines(count: number): Promise<Machines> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-machines-'))
  const port = await freePort()
  const environment = { ...process.env, MACHINES_DIR: join(folder, 'machines'), REDFISH_PORT: String(port) }
  const run = (...args: string[]) =>
    execFileSync(SCRIPT, args, { env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const lines = run('start', String(count)).trim().split('\n')
  const doors = lines.map(line => {
    const [, system, , serial] = line.split(' ')
    return new Door(`http://127.0.0.1:${port}`, { system: system!, serial: serial! })
  })
  const images = createServer((request, response) => {
    const file = join(folder, request.url!.replaceAll('/', ''))
    if (existsSync(file)) response.end(readFileSync(file))
    else response.writeHead(404).end()
  })
  await once(images.listen(0, '127.0.0.1'), 'listening')
  await Promise.all(doors.map(door => door.open()))
  return {
    doors,
    iso: word => {
      run('iso', join(folder, `${word}.iso`), word)
      return `http://127.0.0.1:${(images.address() as AddressInfo).port}/${word}.iso`
    },
    stop: () => {
      for (const door of doors) door.close()
      images.closeAllConnections()
      images.close()
      run('stop')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
