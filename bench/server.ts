// Starts a server as a child process in its own process group, waits until it answers, and ends it with us.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface ServerCommand {
  argv: string[]
  port: number
  env?: Record<string, string>
  /** A path that answers, with any status, once the server is up. */
  readyPath?: string
  /** What it prints once it is up, if it doesn't listen. */
  readyText?: string
}

export interface Server {
  port: number
  pid: number
  origin: string
  log(): string
  /** CPU seconds of the whole process group so far; 0 without /proc. */
  cpuSeconds(): number
  /** Sends SIGTERM, then SIGKILL if needed. Returns the exit code. */
  stop(): Promise<number | null>
}

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 10_000
const LOG_MAX = 8_000
const TICKS_PER_SECOND = 100

/** The command under test; may be that of another checkout, to compare the two. */
export const holdfast = process.env['HOLDFAST_BIN'] ?? fileURLToPath(new URL('../bin/holdfast', import.meta.url))

const running = new Set<ChildProcess>()

process.on('exit', () => running.forEach(child => signalGroup(child, 'SIGKILL')))
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.once(signal, () => process.exit(code))
}

export async function startServer(command: ServerCommand): Promise<Server> {
  const { argv, port, env = {}, readyPath = '/', readyText } = command
  const [file = '', ...args] = argv
  // Its own process group, so that a launcher's children end with it.
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  running.add(child)
  let log = ''
  const keep = (chunk: Buffer) => (log = (log + chunk.toString()).slice(-LOG_MAX))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  child.on('error', error => (log += String(error)))
  const origin = `http://127.0.0.1:${port}`
  const server = {
    port,
    pid: child.pid ?? 0,
    origin,
    log: () => log,
    cpuSeconds: () => groupCpuSeconds(child.pid),
    stop: () => stop(child),
  }

  const deadline = performance.now() + START_TIMEOUT_MS
  const isUp = async () => (readyText === undefined ? answers(origin + readyPath) : log.includes(readyText))
  while (!(await isUp())) {
    if (hasEnded(child)) throw new Error(`the server ended with status ${child.exitCode}: ${log}`)
    if (performance.now() > deadline) {
      await stop(child)
      throw new Error(`the server did not answer in ${START_TIMEOUT_MS / 1000} s: ${log}`)
    }
    await sleep(20)
  }
  return server
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

/** Runs a command to its end. Returns its status and everything it printed. */
export async function runCommand(argv: string[]): Promise<{ status: number | null; output: string }> {
  const [file = '', ...args] = argv
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await once(child, 'close')
  return { status: child.exitCode, output }
}

async function stop(child: ChildProcess): Promise<number | null> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (hasEnded(child)) break
    const exit = once(child, 'exit')
    signalGroup(child, signal)
    await Promise.race([exit, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
  }
  // A launcher may be gone while its child still runs.
  signalGroup(child, 'SIGKILL')
  running.delete(child)
  return child.exitCode
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals) {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // The group is gone.
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(5000) })).arrayBuffer()
    return true
  } catch {
    return false
  }
}

function groupCpuSeconds(group: number | undefined): number {
  return sumOfCpu(({ group: own }) => own === group)
}

/** CPU seconds of a process and its children, those that have ended too; 0 without /proc. */
export function treeCpuSeconds(pid: number): number {
  const ended = statFields(String(pid))
  const endedTicks = Number(ended[13] ?? 0) + Number(ended[14] ?? 0)
  return sumOfCpu(one => one.pid === pid || one.parent === pid) + endedTicks / TICKS_PER_SECOND
}

function sumOfCpu(isMeant: (one: { pid: number; parent: number; group: number }) => boolean): number {
  let ticks = 0
  try {
    for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
      // The name in brackets may have spaces, so fields count after it: state, parent, group, … utime (12th), stime.
      const fields = statFields(pid)
      const one = { pid: Number(pid), parent: Number(fields[1]), group: Number(fields[2]) }
      if (fields.length > 0 && isMeant(one)) ticks += Number(fields[11]) + Number(fields[12])
    }
  } catch {
    return 0
  }
  return ticks / TICKS_PER_SECOND
}

/** CPU seconds of a process so far, in ticks of ten milliseconds; 0 without /proc. */
export function cpuSecondsOf(pid: number): number {
  const fields = statFields(`${pid}`)
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND
}

function statFields(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
