// An entry of the audit as a sentence: who did what to which.
import type { AuditEntry } from '../../../../src/client/operations.ts'
import { words } from '../../words.ts'

interface Sentence {
  verb: string
  /** The objects by name, each once. */
  objects: { kind: string; id: string; name: string }[]
  hasFailed: boolean
}

/** Kinds that only say again what another object of the entry says. */
const ECHOES: Readonly<Record<string, string>> = { resource_provider: 'node', consumer: 'allocation' }
const LOGIN = 'identity:login'
const OBJECTS_MAX = 3

export function sentenceOf(entry: AuditEntry, nameOf: (id: string) => string): Sentence {
  const kinds = new Set(entry.objects.map(({ kind }) => kind))
  // Whoever logs in is named already.
  const said = entry.action === LOGIN ? [] : entry.objects.filter(({ kind }) => !kinds.has(ECHOES[kind] ?? ''))
  const named = said.map(({ kind, id, data }) => ({ kind, id, name: data?.name ?? nameOf(id) }))
  const once = new Map(named.map(object => [`${object.kind} ${object.name}`, object]))
  return {
    verb: words.operator.actions[entry.action] ?? plain(entry.action),
    objects: [...once.values()].slice(0, OBJECTS_MAX),
    hasFailed: entry.outcome === 'failed',
  }
}

/** An action without words of its own: `baremetal:port:create` is `create port`. */
function plain(action: string): string {
  const [, ...parts] = action.split(':')
  return parts.toReversed().join(' ').replaceAll(/[_-]/g, ' ') || action
}

/** Entries that say the same one after the other are one, with how many there are. */
export function foldedOf(entries: readonly AuditEntry[]): { entry: AuditEntry; times: number }[] {
  const folded: { entry: AuditEntry; times: number; key: string }[] = []
  for (const entry of entries) {
    const { user, project, action, outcome, objects } = entry
    const key = JSON.stringify([user, project, action, outcome, objects.map(({ kind, id }) => [kind, id])])
    const last = folded.at(-1)
    if (last?.key === key) last.times++
    else folded.push({ entry, times: 1, key })
  }
  return folded
}
