// The invariants of webhooks, each as a query that counts violations.
import { count, danglings, type Invariants } from '../store/fsck.ts'

const OLDER = `select 1 from deliveries o where o.webhook_id = d.webhook_id and o.subject = d.subject
  and o.status = 'pending' and o.id < d.id`

export const webhookInvariants: Invariants = {
  'every delivery belongs to a webhook': danglings(['deliveries.webhook_id', 'webhooks.id']),
  'of the deliveries about one subject only the oldest is due, while its webhook is active, and no other': count(`
    select 1 from deliveries d join webhooks w on w.id = d.webhook_id
    where d.status = 'pending'
      and (d.due_at is not null) <> (w.state = 'active' and not exists (${OLDER}))`),
  'no webhook is ahead of the log': count(`
    select 1 from webhooks where cursor_sequence > (select last from log_head)`),
}
