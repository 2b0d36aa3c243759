// The two calls that write a whole batch of plain requests by themselves, on PostgreSQL. Their text is in the migrations.
import { sql } from 'kysely'
import type { LogRow } from '../../store/log.ts'
import { command } from '../../store/statement.ts'

/** A list as PostgreSQL writes it. */
type List = string & { readonly of?: 'list' }

/** What both calls take: how long they wait for locks, and the rows of the log. */
interface Told {
  lockWaitMs: number
  ats: List
  requestIds: List
  logUsers: List
  logProjects: List
  roles: List
  addresses: List
  actions: List
  objects: string
  outcomes: List
  origin: string
}

interface NewClaims extends Told {
  now: number
  consumers: List
  projects: List
  users: List
  types: List
  providers: List
  bumps: List
  classNames: List
  usedOf: List
  usedClass: List
  adds: List
  least: List
  most: List
  divisor: List
  claimBy: List
  claimOf: List
  claimClass: List
  amounts: List
}

const told = (a: Told) =>
  sql`${a.lockWaitMs}, ${a.ats}, ${a.requestIds}, ${a.logUsers}, ${a.logProjects}, ${a.roles}, ${a.addresses},
    ${a.actions}, ${a.objects}, ${a.outcomes}, ${a.origin}`

export const claimNew = command((db, a: NewClaims) =>
  db
    .selectFrom(
      sql<{ revisions: string }>`(select claim_new(${told(a)}, ${a.now},
        ${a.consumers}, ${a.projects}, ${a.users}, ${a.types}, ${a.providers}, ${a.bumps}, ${a.classNames},
        ${a.usedOf}, ${a.usedClass}, ${a.adds}, ${a.least}, ${a.most}, ${a.divisor},
        ${a.claimBy}, ${a.claimOf}, ${a.claimClass}, ${a.amounts})::text as revisions)`.as('r'),
    )
    .select('r.revisions'),
)

interface Released {
  providers: string
  revisions: string
  of: string
  class_names: string
  amounts: string
}

export const releaseAll = command((db, a: Told & { consumers: List }) =>
  db
    .selectFrom(
      sql<Released>`(select providers::text, revisions::text, "of"::text, array_to_string(class_names, ' ') as class_names,
        amounts::text from release_all(${told(a)}, ${a.consumers}))`.as('r'),
    )
    .selectAll(),
)

/** The arguments for the rows of the log. */
export function toldBy(rows: readonly LogRow[], origin: string, lockWaitMs: number): Told {
  return {
    lockWaitMs,
    ats: numbers(rows.map(row => row.at)),
    requestIds: texts(rows.map(row => row.request_id)),
    logUsers: texts(rows.map(row => row.user_id)),
    logProjects: texts(rows.map(row => row.project_id)),
    roles: texts(rows.map(row => row.roles)),
    addresses: texts(rows.map(row => row.address)),
    actions: texts(rows.map(row => row.action)),
    objects: rows.map(row => row.objects).join('\n'),
    outcomes: texts(rows.map(row => row.outcome)),
    origin,
  }
}

export const numbers = (list: readonly number[]): List => `{${list.join()}}`

export const numbersIn = (list: string): number[] => (list === '{}' ? [] : list.slice(1, -1).split(',').map(Number))

const PLAIN = /^[\w.:-]+$/

/** With quotes around what PostgreSQL could take for something else, such as NULL or a comma. */
export function texts(list: readonly (string | null)[]): List {
  let [before, written]: [string | null, string] = [null, 'null']
  // Neighbours are mostly of the same user and action.
  const elements = list.map(text => (text === before ? written : (written = element((before = text)))))
  return `{${elements.join()}}`
}

function element(text: string | null): string {
  if (text === null) return 'null'
  if (PLAIN.test(text) && (text.length !== 4 || text.toLowerCase() !== 'null')) return text
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
