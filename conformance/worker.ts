// Talks to the Python process that runs gabbi files for us, one job at a time.
import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface TestReport {
  name: string
  outcome: 'pass' | 'fail' | 'skip'
  message: string | null
  request?: string
}

export interface FileReport {
  tests: TestReport[]
  error?: string
}

export interface Worker {
  run(file: string, url: string): Promise<FileReport>
  stop(): void
}

// Debian's Python, where python3-gabbi installs gabbi; the variable names another one.
const PYTHON = process.env['HOLDFAST_PYTHON'] ?? '/usr/bin/python3'
const SCRIPT = fileURLToPath(new URL('placement/run.py', import.meta.url))

export const WHERE_TO_GET_GABBI = `${PYTHON} with gabbi is needed: apt-get install python3-gabbi`

export function hasGabbi(): boolean {
  return spawnSync(PYTHON, ['-c', 'import gabbi']).status === 0
}

export function startWorker(): Worker {
  const child = spawn(PYTHON, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async run(file, url) {
      child.stdin.write(`${JSON.stringify({ file, url })}\n`)
      const line = await lines.next()
      if (line.done) return { tests: [], error: 'the gabbi process died' }
      const report: FileReport = JSON.parse(line.value)
      return report
    },
    stop: () => child.stdin.end(),
  }
}
