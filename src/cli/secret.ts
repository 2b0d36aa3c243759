// Reads secrets: typed by people without echo, or piped in by scripts.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { UsageError } from '../shared/usage-error.ts'
import { terminal } from './terminal.ts'

/** The first line of the input. */
export async function readSecret(input: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of input) text += String(chunk)
  return text.split(/\r?\n/, 1)[0]!
}

/** Asks at the terminal; what is typed is not echoed. */
export async function askSecret(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: terminal().stdin, output: silent, terminal: true })
  terminal().stderr.write(question)
  try {
    const gone = new Promise<never>((_resolve, reject) => {
      lines.once('SIGINT', () => reject(new UsageError('nothing was changed')))
      lines.once('close', () => reject(new UsageError('nothing was changed')))
    })
    return await Promise.race([lines.question(''), gone])
  } finally {
    lines.close()
    terminal().stderr.write('\n')
  }
}
