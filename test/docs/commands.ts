// A block of shell as the commands that a reader would paste, one by one.
import { spawnSync } from 'node:child_process'
import type { Block } from './pages.ts'

export interface ShellCommand {
  /** Of the page. */
  line: number
  text: string
}

export function commandsIn({ line, text }: Pick<Block, 'line' | 'text'>): ShellCommand[] {
  const commands: ShellCommand[] = []
  let pending: string[] = []
  const lines = text.split('\n')
  for (const [index, one] of lines.entries()) {
    if (pending.length === 0 && (one.trim() === '' || one.startsWith('#'))) continue
    pending.push(one)
    const candidate = pending.join('\n')
    if (!isWhole(candidate)) continue
    commands.push({ line: line + index + 1 - pending.length, text: candidate })
    pending = []
  }
  // Bash will say what is wrong with it.
  if (pending.length > 0) commands.push({ line: line + lines.length - pending.length, text: pending.join('\n') })
  return commands
}

/** Bash takes a here-document without an end for whole, with a warning. */
function isWhole(text: string): boolean {
  if (text.endsWith('\\')) return false
  const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' })
  return status === 0 && stderr === ''
}
