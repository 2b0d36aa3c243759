// What a node's driver_internal_info says of the agent on its ramdisk, and when that is no longer so.
import { type Json, jsonIn, type JsonText, jsonText, MEMBERS } from '../../shared/json.ts'
import type { NodeRow } from './rows.ts'

/** The digest of the agent's token. Masked like every secret. */
export const TOKEN = 'agent_secret_token'

const KEYS: ReadonlySet<string> = new Set([
  TOKEN,
  'agent_url',
  'agent_version',
  'agent_last_heartbeat',
  'agent_verify_ca',
  'agent_status',
  'agent_status_message',
])

export const internalOf = ({ driver_internal_info }: NodeRow): Json => jsonIn(driver_internal_info, MEMBERS)

/** Without the agent: the machine was switched off or started anew, or something else begins. */
export function withoutAgent(info: JsonText<Json>): JsonText<Json> {
  if (!info.includes('"agent_')) return info
  return jsonText(Object.fromEntries(Object.entries(jsonIn(info, MEMBERS)).filter(([key]) => !KEYS.has(key))))
}
