// Which events a webhook wants, and which of these it may be told.
import type { HoldfastEvent } from '../events/event.ts'
import { type EventKind, isQuiet, KINDS } from '../events/kinds.ts'
import { jsonIn, TEXTS } from '../shared/json.ts'
import { isMail } from './targets.ts'
import type { Webhook } from './webhooks.ts'

/** Who made a webhook, and so what it may be told. */
export interface Maker {
  readonly user: string
  readonly project: string | null
  readonly roles: ReadonlySet<string>
  readonly systemScope: boolean
}

/** Whether a caller may see what an event is about. */
export type Sees = (maker: Maker, event: HoldfastEvent) => boolean

/** All types by what clients call them: `lease`, `lease.started`. */
const TYPES: ReadonlySet<string> = new Set(
  Object.entries(KINDS).flatMap(([kind, { became }]) => [kind, ...Object.keys(became).map(word => `${kind}.${word}`)]),
)

/** A type as it is kept: without `holdfast.` before it and `.*` behind it. Null when there is none of that name. */
export function typeIn(text: string): string | null {
  const type = text.replace(/^holdfast\./, '').replace(/\.\*$/, '')
  return TYPES.has(type) ? type : null
}

/** What is written to people unless they ask for something else: what they must know in time, or can't see coming. */
export const REMINDERS: readonly string[] = [
  'allocation.active',
  'allocation.error',
  'allocation.before_end',
  'allocation.ending',
  'allocation.ended',
  'lease.started',
  'lease.before_end',
  'lease.ended',
  'lease.degraded',
  'lease.whole',
  'lease.error',
]

/** A test of events for one webhook; made once for a whole page of them. */
export function wishOf(webhook: Webhook, sees: Sees): (event: HoldfastEvent) => boolean {
  const { project_id: project, only_project: only, only_user: user, object } = webhook
  const types = new Set(jsonIn(webhook.types, TEXTS))
  const maker = makerOf(webhook)
  const isWanted = ({ kind, became }: HoldfastEvent) =>
    types.size === 0 ? !isQuiet(kind) : types.has(kind) || types.has(`${kind}.${became}`)
  // Nobody needs a letter about what they did themselves, or about a machine that they got at once.
  const isNews = ({ kind, became, by, data }: HoldfastEvent) =>
    by.user !== maker.user && (`${kind}.${became}` !== 'allocation.active' || data['waited_seconds'] !== undefined)
  const isLetter = isMail(webhook.url)
  return event =>
    isWanted(event) &&
    (!isLetter || isNews(event)) &&
    (object === null || event.object === object) &&
    (project === null || isOf(event, project)) &&
    (only === null || isOf(event, only)) &&
    (user === null || (event.whose.user ?? user) === user) &&
    sees(maker, event)
}

const isOf = ({ whose }: HoldfastEvent, project: string) => [whose.project, whose.owner, whose.lessee].includes(project)

const makerOf = (webhook: Webhook): Maker => ({
  user: webhook.maker_user,
  project: webhook.maker_project,
  roles: new Set(webhook.maker_roles === '' ? [] : webhook.maker_roles.split(',')),
  systemScope: webhook.maker_system === 1,
})

/** The kinds that some of these webhooks want. */
export function kindsOf(webhooks: readonly Pick<Webhook, 'types'>[]): ReadonlySet<EventKind> {
  const usual = (Object.keys(KINDS) as EventKind[]).filter(kind => !isQuiet(kind))
  return new Set(
    webhooks.flatMap(({ types }) => {
      const named = jsonIn(types, TEXTS).map(type => type.split('.')[0] as EventKind)
      return named.length === 0 ? usual : named
    }),
  )
}
