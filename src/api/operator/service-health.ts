// GET /holdfast/v1/health: how the service is, for operators. /healthz and /metrics are for programs.
import { checkEverything } from '../../measure/fsck.ts'
import { type Health, healthOf } from '../../measure/health.ts'
import { VERSION } from '../../shared/version.ts'
import type { Operation } from '../operation.ts'
import { Count, Flag, named, oneOf, orNull, Text } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Seconds = Type.Number()

const HealthShape = named('ServiceHealth', {
  now: Text,
  version: Text,
  conductors: Type.Array(
    named('ConductorHealth', {
      hostname: Text,
      group: Text,
      alive: Flag,
      silent_seconds: Seconds,
      // Nodes that it works on.
      at_work: Count,
    }),
  ),
  // By this process, since it began.
  taken_over: Type.Object({ conductors: Count, nodes: Count, allocations: Count }),
  database: Type.Object({
    kind: oneOf('sqlite', 'postgres'),
    version: Text,
    // By this process, since it began. Transactions share commits.
    commits: Count,
    writes: Count,
    retries: Count,
    pool: orNull(Type.Object({ connections: Count, idle: Count, waiting: Count })),
  }),
  // How this process follows the others; null where it is the only one.
  feed: orNull(Type.Object({ backlog: Count, behind_seconds: Seconds })),
  duties: Type.Array(
    named('DutyHealth', {
      name: Text,
      failing: Flag,
      // Null while it runs.
      next_seconds: orNull(Seconds),
      // Null while it doesn't.
      running_seconds: orNull(Seconds),
    }),
  ),
  // Events of leases whose time has come and that are not done.
  late_events: orNull(Count),
  audit: Type.Object({ on: Flag, unsealed: orNull(Count) }),
  // The last one that this process was asked for.
  fsck: orNull(Type.Object({ at: Text, violations: Count })),
  streams: Count,
  quotas: Type.Array(
    Type.Object({
      project: Text,
      name: Text,
      limits: Type.Array(
        Type.Object({ name: Text, max: orNull(Type.Number()), used: orNull(Type.Number()), is_default: Flag }),
      ),
    }),
  ),
})

getHealth.operation = {
  summary: 'Say how the service is: conductors, database, duties, audit, and what projects use of their limits',
  answers: { 200: HealthShape },
} satisfies Operation

export async function getHealth({ context, now }: OperatorRequest): Promise<Answer> {
  const { config, names, fsckNote, streams } = context
  const found = await healthOf({ ...context, now })
  const { totals, database, feed, lateEvents, unsealed } = found
  const body = {
    now: new Date(now).toISOString(),
    version: VERSION,
    conductors: conductorsOf(found, config.takeOverMs),
    taken_over: totals.takenOver,
    database: { ...database, commits: totals.commits, writes: totals.writes, retries: totals.retries },
    feed: feed && { backlog: feed.backlog, behind_seconds: feed.behindSeconds },
    duties: found.duties.map(({ name, isFailing, nextMs, runningMs }) => ({
      name,
      failing: isFailing,
      next_seconds: seconds(nextMs),
      running_seconds: seconds(runningMs),
    })),
    late_events: lateEvents,
    audit: { on: config.audit === 'on', unsealed },
    fsck: fsckNote.last && { ...fsckNote.last, at: new Date(fsckNote.last.at).toISOString() },
    streams: streams.count,
    quotas: found.quotas.map(({ project, limits }) => ({
      project,
      name: names.project(project),
      limits: limits.map(({ name, max, used, isDefault }) => ({ name, max, used, is_default: isDefault })),
    })),
  }
  return { status: 200, body, headers: { 'cache-control': 'no-store' } }
}

const seconds = (ms: number | null) => (ms === null ? null : ms / 1_000)

const conductorsOf = ({ conductors }: Health, silentMs: number) =>
  conductors.map(({ hostname, conductor_group: group, online, silent_ms, atWork }) => ({
    hostname,
    group,
    alive: online === 1 && silent_ms < silentMs,
    silent_seconds: silent_ms / 1_000,
    at_work: atWork,
  }))

showFsck.operation = {
  summary: 'Count the violations of each invariant: zero, always',
  answers: {
    200: named('Fsck', {
      violations: Count,
      invariants: Type.Array(Type.Object({ invariant: Text, violations: Count })),
    }),
  },
} satisfies Operation

export async function showFsck({ context, now }: OperatorRequest): Promise<Answer> {
  await context.schema.look()
  const invariants = await checkEverything(context.store)
  const violations = invariants.reduce((sum, one) => sum + one.violations, 0)
  context.fsckNote.last = { at: now, violations }
  return { status: 200, body: { violations, invariants } }
}
