// The shape of an event in the documents, made from the table of kinds.
import { KINDS } from '../events/kinds.ts'
import { named, oneOf, Text, TextOrNull } from './shapes.ts'
import { Type } from '../shared/type.ts'

interface EventType {
  type: string
  kind: string
  /** When it is told. */
  says: string
  isQuiet: boolean
}

const table: Readonly<Record<string, { became: Readonly<Record<string, string>>; isQuiet?: boolean }>> = KINDS

/** Every type of event. */
export const EVENT_TYPES: readonly EventType[] = Object.entries(table).flatMap(([kind, { became, isQuiet = false }]) =>
  Object.entries(became).map(([word, says]) => ({ type: `holdfast.${kind}.${word}`, kind, says, isQuiet })),
)

/** What every event says beside what its type says. */
const Data = named(
  'EventData',
  { by: Type.Object({ user: Text, project: TextOrNull, request: TextOrNull }) },
  { additionalProperties: true },
)

export const CloudEvent = named('CloudEvent', {
  specversion: Type.Literal('1.0'),
  // The cursor of a reader who has got so far. Unique together with `source`.
  id: Text,
  source: Text,
  type: oneOf(...EVENT_TYPES.map(({ type }) => type)),
  // The kind and the id of the object.
  subject: Text,
  time: Type.String({ format: 'date-time' }),
  datacontenttype: Type.Literal('application/json'),
  sequence: Text,
  projectid: Type.Optional(Text),
  data: Data,
})
