// The bare metal API in the words of tests.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe } from 'node:test'
import type { Config } from '../../src/config.ts'
import { type Answer, Client, type Options } from './client.ts'
import { expectStatus, Placement } from './placement.ts'
import { type Command, runHoldfast, startServer } from './server.ts'
import { eachDatabase } from './stores.ts'

const DEADLINE_MS = 15_000

export class Baremetal extends Client {
  /** The same server's Placement. */
  readonly placement = new Placement()

  constructor(...origins: string[]) {
    super('/baremetal', ...origins)
    this.placement.origins = origins
  }

  patch = (path: string, body?: unknown, options?: Options) => this.request('PATCH', path, body, options)

  override request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Answer> {
    const { version = '1.82', headers = {}, ...rest } = options
    const own = version === null ? {} : { 'x-openstack-ironic-api-version': version }
    return super.request(method, path, body, { ...rest, version: null, headers: { ...own, ...headers } })
  }

  /** Makes a node, in the state that is asked for, and answers its uuid. */
  async node(attributes: object = {}, state: 'enroll' | 'manageable' | 'available' | 'active' = 'enroll') {
    const { body } = expectStatus(await this.post('/v1/nodes', { driver: 'fake-hardware', ...attributes }), 201)
    const { uuid } = body
    if (state !== 'enroll') await this.go(uuid, 'manage', 'manageable')
    if (state === 'available' || state === 'active') await this.go(uuid, 'provide', 'available')
    if (state === 'active') await this.go(uuid, 'active', 'active')
    return uuid as string
  }

  provision(node: string, target: string, more: object = {}, options?: Options): Promise<Answer> {
    return this.put(`/v1/nodes/${node}/states/provision`, { target, ...more }, options)
  }

  /** Asks for a verb and waits until the node is where that leads. */
  async go(node: string, verb: string, state: string, more: object = {}) {
    expectStatus(await this.provision(node, verb, more), 202)
    return this.until(node, state)
  }

  async show(node: string) {
    return expectStatus(await this.get(`/v1/nodes/${node}`), 200).body
  }

  /** Waits until the node is settled in a state. */
  async until(node: string, state: string, deadlineMs = DEADLINE_MS) {
    const deadline = performance.now() + deadlineMs
    for (;;) {
      const shown = await this.show(node)
      const isSettled = shown.reservation === null && shown.target_power_state === null
      if (shown.provision_state === state && isSettled) return shown
      if (performance.now() > deadline) {
        return assert.fail(`${node} is ${shown.provision_state}, not ${state}: ${shown.last_error}`)
      }
      await sleep(5)
    }
  }

  fsck = () => this.placement.fsck()

  override close(): void {
    super.close()
    this.placement.close()
  }
}

/** What an error says, whichever of its two forms it has. */
export function fault({ body }: Answer): string {
  assert.equal(typeof body?.error_message, 'string', JSON.stringify(body))
  const inside = JSON.parse(body.error_message) as { faultstring?: string; description?: string }
  return inside.faultstring ?? inside.description ?? ''
}

/** The status, and an error in the right form. */
export function expectFault(answer: Answer, status: number, pattern: RegExp = /./): Answer {
  expectStatus(answer, status)
  assert.match(fault(answer), pattern)
  return answer
}

/** One group of tests for each kind of database, with a server on it; the ledger must be whole at the end. */
export function eachMetal(name: string, body: (api: Baremetal) => void, settings: Partial<Config> = {}): void {
  eachDatabase(name, databases => {
    void describe('', () => {
      const api = new Baremetal()
      let stop: () => Promise<void>
      before(async () => {
        const server = await startServer(await databases.create(), settings)
        api.origins = api.placement.origins = [server.origin]
        stop = () => server.stop()
      })
      body(api)
      after(async () => {
        try {
          await api.fsck()
        } finally {
          api.close()
          await stop()
        }
      })
    })
  })
}

export const uuid = randomUUID

/** `holdfast conductor` as a process of its own, once it works. */
export async function spawnConductor(database: string, name: string, args: readonly string[] = []): Promise<Command> {
  const command = runHoldfast(['conductor', '--database', database, '--conductor-name', name, ...args])
  const { child, stdout, exit } = command
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', () => {
      if (stdout().includes('is working')) resolve()
    })
    void exit.then(({ code, stderr }) => reject(new Error(`the conductor exited with ${code}: ${stderr}`)))
  })
  return command
}
