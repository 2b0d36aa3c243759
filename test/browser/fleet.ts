// A database with the demo's fleet, and its people: made once in a process, and copied for each file of tests.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gather } from '../../src/cli/demo/crowd.ts'
import { fill } from '../../src/cli/demo/fill.ts'
import { fleetOf } from '../../src/cli/demo/fleet.ts'
import { addPeople, type Passwords } from '../../src/cli/demo/users.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { connect } from '../../src/client/index.ts'
import { startServer } from '../support/server.ts'

interface Made {
  folder: string
  passwords: Passwords
}

const made = new Map<number, Promise<Made>>()

/** Puts `holdfast.db` and `users.yaml` there, with so many machines. */
export async function copyFleet(nodes: number, to: string): Promise<Passwords> {
  const { folder, passwords } = await made.getOrInsertComputed(nodes, make)
  cpSync(folder, to, { recursive: true })
  return passwords
}

async function make(nodes: number): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-fleet-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const users = join(folder, 'users.yaml')
  writeFileSync(users, 'users: {}\nprojects: {}\n')
  const passwords = await addPeople(users, bytes => systemClock.newSecret(bytes))
  if (nodes === 0) return { folder, passwords }
  const server = await startServer(`sqlite:${join(folder, 'holdfast.db')}`, {
    auth: 'password',
    users,
    placementPolicy: 'secure',
  })
  const now = () => systemClock.now()
  const env = { OS_USERNAME: 'carol', OS_PASSWORD: passwords['carol']!, OS_PROJECT_NAME: 'ops' }
  try {
    const crowd = await gather(await connect({ url: server.origin, env }), passwords, now)
    await fill({ crowd, fleet: fleetOf({ nodes, seed: 7 }), now, report: () => {} })
  } finally {
    await server.stop()
  }
  return { folder, passwords }
}
