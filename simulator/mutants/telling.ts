// Bugs of what is told: the order of the log, seals, the outbox of webhooks.
import type { Mutant } from './mutant.ts'

const ORDER = 'src/store/migrations/0043-order.postgres.sql'

export const tellingMutants: readonly Mutant[] = [
  {
    name: 'order-skips-what-was-running',
    breaks: 'an entry of a transaction that was running at the last look never gets a place',
    file: ORDER,
    from: "where action <> '' and (xid >= pg_snapshot_xmax(head.cursor) or xid = any(array(select pg_snapshot_xip(head.cursor))));",
    to: "where action <> '' and (xid >= pg_snapshot_xmax(head.cursor));",
    mix: 'claims',
    faults: 'connections',
    seeds: 6,
  },
  {
    name: 'seal-skips-an-entry',
    breaks: 'the next seal begins one entry too late',
    file: 'src/audit/seals.ts',
    from: 'head_last: a.last, newest_id',
    to: 'head_last: a.last + 1, newest_id',
    mix: 'claims',
    faults: 'none',
    store: 'sqlite',
    seeds: 3,
  },
  {
    name: 'outbox-sends-out-of-order',
    breaks: 'of two events about one object both are due at once',
    file: 'src/webhooks/fan-out.ts',
    from: '      busy.add(delivery.subject)\n',
    to: '',
    mix: 'webhooks',
    faults: 'none',
    store: 'sqlite',
    seeds: 3,
  },
  {
    name: 'outbox-forgets-the-next',
    breaks: 'after a delivery the next about the same object is not due',
    file: 'src/webhooks/settle.ts',
    from: '        yield* makeNextDue(taken, now)\n',
    to: '',
    mix: 'webhooks',
    faults: 'none',
    store: 'sqlite',
    seeds: 3,
  },
  {
    name: 'outbox-loses-with-the-process',
    breaks: 'a delivery that was under way when its process died is never due again',
    file: 'src/webhooks/taking.ts',
    from: 'const until = now + limits.deliveryTermMs',
    to: 'const until = now + limits.deliveryTermMs * 1_000',
    mix: 'webhooks',
    faults: 'crashes',
    store: 'sqlite',
    seeds: 5,
  },
]
