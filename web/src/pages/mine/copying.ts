// Lines to take to a terminal.
import type { Machine } from '../../../../src/client/status.ts'
import { inCommand, quoted } from '../../../../src/shared/shell.ts'
import { reasonOf, tell } from '../../data/doing.ts'
import { words } from '../../words.ts'

export const sshLine = ({ name, uuid }: Machine) => `ssh ${quoted(name ?? uuid)}`

/** What the command does with what has the machine. */
export function commandLine({ kind, what, id, name, uuid }: Machine): string {
  const ident = inCommand(what, id ?? '')
  if (kind === 'allocation') return `holdfast allocation extend ${ident} 4h`
  if (kind === 'lease') return `holdfast lease extend ${ident} 4h`
  return `holdfast node show ${quoted(name ?? uuid)}`
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    tell({ text: words.mine.copied(text), kind: 'done', action: null })
  } catch (error) {
    tell({ text: words.mine.notCopied(text, reasonOf(error)), kind: 'refused', action: null })
  }
}
