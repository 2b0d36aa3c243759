// Runs a program: without a shell, with a closed stdin, a deadline, and a limit on what it prints.
import { spawn } from 'node:child_process'
import { countdown } from '../../../clock/countdown.ts'
import { limits } from '../../../shared/limits.ts'
import type { Run } from './words.ts'

interface Order {
  file: string
  args: readonly string[]
  /** The whole environment: a variable of ours must not win over a node's password. */
  env: Readonly<Record<string, string>>
  ms: number
  signal: AbortSignal
}

/** Throws only when the program can't be started, or when the signal says so. */
export async function runChild({ file, args, env, ms, signal }: Order): Promise<Run> {
  signal.throwIfAborted()
  const left = countdown(limits.ipmiRefusalMs)
  const late = AbortSignal.timeout(ms)
  const child = spawn(file, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([late, signal]),
    killSignal: 'SIGKILL',
  })
  const [stdout, stderr] = [gathered(child.stdout), gathered(child.stderr)]
  const code = await new Promise<number | null>((resolve, reject) => {
    // Killed by a signal of ours, it closes too. Only a program that did not start has no other end.
    child.once('error', error => child.pid === undefined && reject(error))
    child.once('close', resolve)
  })
  signal.throwIfAborted()
  return { code, stdout: stdout(), stderr: stderr(), isQuick: left() > 0, isLate: late.aborted && code === null }
}

/** Reads to the end, so that the program is never stuck, and keeps the beginning. */
function gathered(stream: NodeJS.ReadableStream): () => string {
  const pieces: Buffer[] = []
  let room: number = limits.ipmiAnswerBytesMax
  stream.on('data', (piece: Buffer) => {
    if (room > 0) pieces.push(piece.subarray(0, room))
    room -= piece.length
  })
  return () => Buffer.concat(pieces).toString('utf8')
}
