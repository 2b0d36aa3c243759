// The event log of a machine: what its BMC wrote down.
import { limits } from '../../../shared/limits.ts'
import type { Json } from '../port.ts'
import type { AnswerTo } from '../questions.ts'
import { type Bmc, linkIn, type Resource } from './bmc.ts'
import { textOf } from './words.ts'

type Event = AnswerTo<'events'>['events'][number]

/** The system event log: of the system, else of its managers. Newest last. */
export async function readEvents(bmc: Bmc): Promise<Event[]> {
  const owners = [await bmc.system(), ...(await bmc.managers())]
  for (const { body } of owners) {
    const log = chosen(await bmc.members(linkIn(body, 'LogServices')))
    if (!log) continue
    const entries = await bmc.members(linkIn(log.body, 'Entries'))
    return entries
      .map(({ body }) => eventIn(body))
      .sort(byTime)
      .slice(-limits.redfishEventsMax)
  }
  return []
}

/** By the name that most have it under, else by what is in it, else the only one. */
function chosen(logs: readonly Resource[]): Resource | undefined {
  const named = (pattern: RegExp) => logs.find(({ path, body }) => pattern.test(`${textOf(body['Id'])} ${path}`))
  return (
    named(/\bsel\b/i) ??
    logs.find(({ body }) => body['LogEntryType'] === 'SEL') ??
    named(/\b(IML|EventLog|Event|Log1)\b/i) ??
    logs[0]
  )
}

const eventIn = (body: Json): Event => ({
  at: textOf(body['EventTimestamp']) || textOf(body['Created']) || null,
  text: textOf(body['Message']) || textOf(body['Name']),
  severity: textOf(body['Severity']) || null,
})

/** Those without a time come first. Times with other zones are compared as times. */
function byTime(one: Event, other: Event): number {
  const at = ({ at }: Event) => (at === null ? 0 : Date.parse(at) || 0)
  return at(one) - at(other)
}
