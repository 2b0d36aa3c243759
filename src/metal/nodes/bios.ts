// The settings of a node's firmware, as a driver last read them. They are kept beside the node's row.
import { problem } from '../../problems/problem.ts'
import { DOCUMENT, jsonIn, type JsonText, jsonText } from '../../shared/json.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { one, type Read, run, type Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import type { BiosSetting } from '../drivers/port.ts'
import { findNode } from './rows.ts'

export interface KeptSetting extends BiosSetting {
  created_at: number
  updated_at: number | null
}

const documentOf = query((db, a: { node: NodeId }) =>
  db.selectFrom('node_documents').select('document').where('node_id', '=', a.node).where('kind', '=', 'bios'),
)
const put = command((db, a: { node: NodeId; document: JsonText<object>; now: number }) =>
  db
    .insertInto('node_documents')
    .values({ node_id: a.node, kind: 'bios', document: a.document, updated_at: a.now })
    .onConflict(c => c.columns(['node_id', 'kind']).doUpdateSet({ document: a.document, updated_at: a.now })),
)

function* settingsOn(node: NodeId): Read<readonly KeptSetting[]> {
  const found = yield* one(documentOf({ node }))
  return found ? (jsonIn(found.document, DOCUMENT) as KeptSetting[]) : []
}

export function* biosOf(ident: string, access: Access): Read<readonly KeptSetting[]> {
  return yield* settingsOn((yield* findNode(ident, access)).id)
}

export function* biosSetting(ident: string, name: string, access: Access): Read<KeptSetting> {
  const found = (yield* biosOf(ident, access)).find(setting => setting.name === name)
  if (!found) throw problem('bios_setting_not_found', { name: name.slice(0, 300), node: ident })
  return found
}

/** Keeps what a driver has read. What it doesn't name any more is gone. */
export function* keepBios(node: NodeId, found: readonly BiosSetting[], now: number): Write<void> {
  const kept = keptSettings(yield* settingsOn(node), found, now)
  yield* run(put({ node, document: jsonText<object>(kept), now }))
}

/** The settings as they are now, by name, each with the time since when it has its value. */
export function keptSettings(
  before: readonly KeptSetting[],
  found: readonly BiosSetting[],
  now: number,
): readonly KeptSetting[] {
  const known = new Map(before.map(setting => [setting.name, setting]))
  const latest = new Map(found.map(setting => [setting.name, setting]))
  return [...latest.values()]
    .map((setting): KeptSetting => {
      const old = known.get(setting.name)
      if (!old) return { ...setting, created_at: now, updated_at: null }
      return { ...setting, created_at: old.created_at, updated_at: old.value === setting.value ? old.updated_at : now }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
