// Where a machine stands. Rack: `extra.rack` of the node, or of its chassis, or the chassis's description up to a colon.
// Slot: `extra.slot` of the node, or what follows the rack in the machine's name, as 06 in rack-a01-06.
import { type Json, type JsonText, MEMBERS, shownIn } from '../shared/json.ts'

interface Standing {
  name: string | null
  extra: JsonText<Json>
  chassis_extra: JsonText<Json> | null
  chassis_description: string | null
}

export interface Place {
  rack: string | null
  slot: string | null
}

export function placeOf({ name, extra, chassis_extra, chassis_description }: Standing): Place {
  const rack =
    wordIn(extra, 'rack') ??
    (chassis_extra === null ? null : wordIn(chassis_extra, 'rack')) ??
    (chassis_description?.split(':', 1)[0]!.trim() || null)
  const rest = rack !== null && name?.startsWith(`${rack}-`) ? name.slice(rack.length + 1) : ''
  return { rack, slot: wordIn(extra, 'slot') ?? (rest || null) }
}

/** Most nodes have neither, and then the text needs no parsing. */
function wordIn(text: JsonText<Json>, member: 'rack' | 'slot'): string | null {
  if (!text.includes(`"${member}"`)) return null
  const value = shownIn(text, MEMBERS)[member]
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : null
}
