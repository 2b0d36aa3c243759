// A webhook is told what its maker may see. When the maker loses roles, so do the webhooks that the maker has made.
import { command } from '../store/statement.ts'
import type { WebhookId } from '../store/schema/ids.ts'
import { mark, run, type Write } from '../store/transaction.ts'
import { halt, listWebhooks, lockWebhook, subjectOf, type Webhook } from './webhooks.ts'

const putRoles = command((db, a: { id: WebhookId; roles: string; now: number }) =>
  db.updateTable('webhooks').set({ maker_roles: a.roles, updated_at: a.now }).where('id', '=', a.id),
)

/** The roles that a user has in a project; for the whole system if that is null. */
export type RolesNow = (user: string, project: string | null) => ReadonlySet<string>

/** Takes the roles away that makers don't have any more, and switches off what has none left. */
export function* narrowWebhooks(rolesNow: RolesNow, now: number): Write<void> {
  for (const { id, ...found } of yield* listWebhooks({ project: null, all: 1 })) {
    const left = rolesLeft(found, rolesNow)
    if (left === found.maker_roles) continue
    const webhook = yield* lockWebhook(id)
    if (!webhook) continue
    yield* run(putRoles({ id, roles: left, now }))
    if (left !== '' || webhook.state === 'disabled') yield* mark(subjectOf(webhook))
    else yield* switchOff(webhook, now)
  }
}

type MadeBy = Pick<Webhook, 'maker_user' | 'maker_project' | 'maker_system' | 'maker_roles'>

function rolesLeft({ maker_user, maker_project, maker_system, maker_roles }: MadeBy, rolesNow: RolesNow): string {
  const held = rolesNow(maker_user, maker_system === 1 ? null : maker_project)
  return maker_roles
    .split(',')
    .filter(role => held.has(role))
    .join()
}

function* switchOff(webhook: Webhook, now: number): Write<void> {
  const reason = 'Whoever made it has no role any more.'
  const data = { name: webhook.name, state: 'disabled', reason }
  yield* halt(webhook, 'disabled', reason, now, { became: 'disabled', data })
}
