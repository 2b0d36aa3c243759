// Processes of Holdfast for faults: each can be killed, put to sleep and started again at its old address.
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnConductor } from '../support/baremetal.ts'
import { type Command, listening, runHoldfast, type ServerProcess } from '../support/server.ts'

/** Short, so that a test sees another conductor take over; long enough for a busy machine to be heard. */
export const TAKE_OVER_MS = 3_000
const COMMON = ['--test-clock', '--take-over-ms', String(TAKE_OVER_MS), '--log-level', 'error']
const API = ['--auth', 'noauth2', '--placement-policy', 'legacy']

export interface FaultyProcess {
  /** Where it answers; empty for a conductor. */
  origin: string
  pid(): number
  kill9(): Promise<void>
  /** Starts it again, with the same name and address. */
  revive(): Promise<void>
  /** Puts it to sleep, and wakes it. */
  sleepFor(ms: number): Promise<void>
  end(): Promise<void>
}

type Environment = Record<string, string>

/** `serve` or `api`, at one port for all its lives. */
export async function startServing(
  role: 'serve' | 'api',
  database: string,
  { environment = {}, args = [] }: { environment?: Environment; args?: string[] } = {},
): Promise<FaultyProcess> {
  const start = (port: string) =>
    listening(runHoldfast([role, '--port', port, '--database', database, ...COMMON, ...API, ...args], environment))
  let server: ServerProcess = await start('0')
  const { origin } = server
  return {
    origin,
    ...pausable(() => server.pid),
    kill9: () => server.kill9(),
    revive: async () => void (server = await start(new URL(origin).port)),
    end: () => server.stop(),
  }
}

export async function startConducting(database: string, name: string): Promise<FaultyProcess> {
  const start = () => spawnConductor(database, name, COMMON)
  let command: Command = await start()
  const end = async (signal: NodeJS.Signals) => {
    command.child.kill(signal)
    await command.exit
  }
  return {
    origin: '',
    ...pausable(() => command.child.pid!),
    kill9: () => end('SIGKILL'),
    revive: async () => void (command = await start()),
    end: () => end('SIGTERM'),
  }
}

const pausable = (pid: () => number) => ({
  pid,
  async sleepFor(ms: number) {
    process.kill(pid(), 'SIGSTOP')
    try {
      await sleep(ms)
    } finally {
      process.kill(pid(), 'SIGCONT')
    }
  },
})
