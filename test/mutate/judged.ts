// Mutants that survive and may: each was looked at, and the reason is given. Found by what the line says, so that it may
// move; when the line changes, it is judged anew.

interface Judged {
  file: string
  /** The line, without its indentation. */
  line: string
  /** As `npm run mutate` prints it. */
  change: string
  why: string
}

export const JUDGED: readonly Judged[] = [
  {
    file: 'src/quotas/belongings.ts',
    line: 'const counts = found.map(([row]) => row?.count ?? 0)',
    change: 'no fallback: row?.count ?? 0 → row?.count',
    why: 'A count always has a row, and whatever is falsy is left out.',
  },
  {
    file: 'src/quotas/limits.ts',
    line: "const every = query((db, _: object) => db.selectFrom('quotas').selectAll().orderBy('project_id').orderBy('name'))",
    change: "no call: .orderBy('name') → nothing",
    why: 'Both databases read the primary key, which has that order. It only is not promised.',
  },
  {
    file: 'src/quotas/within.ts',
    line: '.map(([name, { max }]) => ({ name, max, used: before.get(name) ?? 0, now: after.get(name) ?? 0 }))',
    change: 'no fallback: after.get(name) ?? 0 → after.get(name)',
    why: 'Nothing is more than a limit, like zero.',
  },
  {
    file: 'src/metal/holds/hold-batch.ts',
    line: "db.selectFrom('reservations').select('instance_uuid as uuid').where(on.isIn('instance_uuid', a.instances)),",
    change: "no call: .where(on.isIn('instance_uuid', a.instances)) → nothing",
    why: 'More is read, and only what was asked for is looked up in it.',
  },
  {
    file: 'src/metal/holds/hold-batch.ts',
    line: 'subjects: [...(byId.get(wanted.uuid) ?? []), ...(i === 0 ? others : [])],',
    change: 'no fallback: byId.get(wanted.uuid) ?? [] → byId.get(wanted.uuid)',
    why: 'Each hold that was made has a subject.',
  },
  {
    file: 'src/metal/holds/lifecycle.ts',
    line: "if (error instanceof Problem && error.kind === 'metal_not_found') return 'does not exist'",
    change: 'operator: && → ||',
    why: 'Looking for a node is refused for no other reason.',
  },
  {
    file: 'src/metal/holds/lifecycle.ts',
    line: ".innerJoin('nodes as n', 'n.id', 'r.node_id')",
    change: 'method: innerJoin → leftJoin',
    why: 'A hold always has its node: the schema says so.',
  },
  {
    file: 'src/metal/queue/usage.ts',
    line: 'if ((yield* nextCount(now)) > 0) return',
    change: 'constant: 0 → 1',
    why: 'A count one millisecond early is as good.',
  },
]
