// What belongs to a project, of any kind: before it is deleted.
import { query } from '../store/statement.ts'
import { type Read, together } from '../store/transaction.ts'

const owned = query((db, a: { project: string }) =>
  db
    .selectFrom('nodes')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('owner', '=', a.project),
)
const lent = query((db, a: { project: string }) =>
  db
    .selectFrom('nodes')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('lessee', '=', a.project),
)
const allocated = query((db, a: { project: string }) =>
  db
    .selectFrom('allocations')
    .select(e => e.fn.countAll<number>().as('count'))
    .where(e => e.or([e('project_id', '=', a.project), e('owner', '=', a.project)])),
)
const held = query((db, a: { project: string; now: number }) =>
  db
    .selectFrom('reservations')
    .select(e => e.fn.countAll<number>().as('count'))
    .where(e => e.or([e('project_id', '=', a.project), e('owner', '=', a.project)]))
    .where('expires_at', '>', a.now),
)
const leased = query((db, a: { project: string; now: number }) =>
  db
    .selectFrom('leases')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('project_id', '=', a.project)
    .where('end_at', '>', a.now)
    .where('status', '<>', 'TERMINATED')
    .where('is_deleted', '=', 0),
)
const served = query((db, a: { project: string }) =>
  db
    .selectFrom('servers')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('project_id', '=', a.project),
)
/** Claims that no allocation, reservation, lease or server of ours made. */
const claimed = query((db, a: { project: string; now: number }) =>
  db
    .selectFrom('consumers')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('project_id', '=', a.project)
    .where('managed_by', 'is', null)
    .where(e => e.or([e('expires_at', 'is', null), e('expires_at', '>', a.now)])),
)

/** How much of what, in words: `2 nodes`, `1 lease`; empty if it has nothing. */
export function* belongingsOf(project: string, now: number): Read<string[]> {
  const found = yield* together(
    owned({ project }),
    lent({ project }),
    allocated({ project }),
    held({ project, now }),
    leased({ project, now }),
    served({ project }),
    claimed({ project, now }),
  )
  const counts = found.map(([row]) => row?.count ?? 0)
  return WORDS.flatMap((word, i) => (counts[i] ? [inWords(counts[i], word)] : []))
}

const WORDS = ['node', 'leased node', 'allocation', 'reservation', 'lease', 'server', 'claim']

const inWords = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`
