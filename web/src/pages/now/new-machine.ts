// What someone typed about a new machine, read and checked. Pure: the sheet shows what is wrong beside each field.
import type { Json } from '../../../../src/client/wire.ts'
import { words } from '../../words.ts'

export interface Draft {
  name: string
  class: string
  driver: string
  rack: string
  slot: string
  /** One or more, with spaces, commas or lines between them. */
  macs: string
}

export const EMPTY_DRAFT: Draft = { name: '', class: '', driver: '', rack: '', slot: '', macs: '' }

type Wrong = Partial<Record<keyof Draft, string>>

/** Names are also host names. */
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._~-]{0,253}[A-Za-z0-9])?$/
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/
const TEXT_MAX = 80

/** As the API writes them: 52-54-00-AA-BB-01 is 52:54:00:aa:bb:01. */
export const macsIn = (text: string): string[] => {
  const all = text
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter(mac => mac !== '')
    .map(mac => mac.replaceAll('-', ':'))
  return [...new Set(all)]
}

export function wrongIn(draft: Draft, isTaken: (name: string) => boolean): Wrong {
  const wrong: Wrong = {}
  const name = draft.name.trim()
  if (name === '') wrong.name = words.now.new.nameMissing
  else if (!NAME.test(name)) wrong.name = words.now.new.nameWrong
  else if (isTaken(name)) wrong.name = words.now.new.nameTaken(name)
  if (draft.class.trim().length > TEXT_MAX) wrong.class = words.fields.tooLong(TEXT_MAX)
  if (draft.driver === '') wrong.driver = words.now.new.driverMissing
  if (draft.slot.trim() !== '' && draft.rack.trim() === '') wrong.rack = words.now.new.rackMissing
  const odd = macsIn(draft.macs).find(mac => !MAC.test(mac))
  if (odd !== undefined) wrong.macs = words.now.new.macWrong(odd)
  return wrong
}

/** The node, as the API takes it. */
export function nodeOf(draft: Draft): Json {
  const [rack, slot, resourceClass] = [draft.rack.trim(), draft.slot.trim(), draft.class.trim()]
  return {
    name: draft.name.trim(),
    driver: draft.driver,
    ...(resourceClass !== '' && { resource_class: resourceClass }),
    ...(rack !== '' && { extra: { rack, ...(slot !== '' && { slot }) } }),
  }
}
