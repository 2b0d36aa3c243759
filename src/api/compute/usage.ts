// /os-simple-tenant-usage: how long the servers of a project have run in a period.
import type { Static } from 'typebox'
import { vmState } from '../../compute/moves.ts'
import {
  NOTHING,
  type Period,
  type ProjectUsage,
  serversIn,
  type ServerUsage,
  shownSize,
  usageIn,
} from '../../compute/usage.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { Count, named, Text } from '../shapes.ts'
import { ShownRecordTime, shownRecordTime } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const HOUR_MS = 3_600_000

const PARAMETERS: Form = {
  schema: Type.Object({
    start: Type.Optional(Text),
    end: Type.Optional(Text),
    detailed: Type.Optional(Text),
  }),
}
const Amount = Type.Number({ minimum: 0 })
const ShownServer = named('ServerUsage', {
  instance_id: Text,
  name: Text,
  tenant_id: Text,
  flavor: Text,
  hours: Amount,
  vcpus: Count,
  memory_mb: Count,
  local_gb: Count,
  started_at: ShownRecordTime,
  ended_at: Type.Null(),
  state: Text,
  uptime: Count,
})
const Shown = named('ProjectUsage', {
  tenant_id: Text,
  start: ShownRecordTime,
  stop: ShownRecordTime,
  total_hours: Amount,
  total_vcpus_usage: Amount,
  total_memory_mb_usage: Amount,
  total_local_gb_usage: Amount,
  server_usages: Type.Optional(Type.Array(ShownServer)),
})

listUsages.operation = {
  summary: 'List how long the servers of each project have run in a period',
  description: 'Deleted servers do not count. server_usages lists up to 1,000 servers; the totals count all.',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ tenant_usages: Type.Array(Shown) }) },
} satisfies Operation

export async function listUsages(request: ComputeRequest): Promise<Answer> {
  const period = periodOf(request)
  const isDetailed = request.parameter('detailed') === '1'
  const { usages, servers } = await read(request, period, null, isDetailed)
  const byProject = Map.groupBy(servers, ({ project_id }) => project_id)
  const shown = usages.map(usage => ({
    ...total(usage, period),
    ...(isDetailed && { server_usages: each(byProject.get(usage.project) ?? [], period, request.now) }),
  }))
  return { status: 200, body: { tenant_usages: shown } }
}

showUsage.operation = {
  summary: 'Show how long the servers of a project have run in a period',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ tenant_usage: Shown }) },
} satisfies Operation

export async function showUsage(request: ComputeRequest): Promise<Answer> {
  const project = request.param('project')
  request.requireAllowed('os_compute_api:os-simple-tenant-usage:show', { project })
  const period = periodOf(request)
  const { usages, servers } = await read(request, period, project, true)
  // Upstream shows an empty object when there were none, on which the openstack command fails.
  const [usage = { project, ms: 0, sizeMs: NOTHING }] = usages
  const shown = { ...total(usage, period), server_usages: each(servers, period, request.now) }
  return { status: 200, body: { tenant_usage: shown } }
}

const read = ({ context }: ComputeRequest, period: Period, project: string | null, isDetailed: boolean) =>
  context.store.read(function* () {
    const usages = yield* usageIn(period, project)
    return { usages, servers: isDetailed ? yield* serversIn(period, project) : [] }
  })

const hours = (ms: number) => ms / HOUR_MS

const total = ({ project, ms, sizeMs }: ProjectUsage, { start, stop }: AskedPeriod) => ({
  tenant_id: project,
  start,
  stop,
  total_hours: hours(ms),
  total_vcpus_usage: hours(sizeMs.vcpus),
  total_memory_mb_usage: hours(sizeMs.memory_mb),
  total_local_gb_usage: hours(sizeMs.local_gb),
})

const each = (servers: readonly ServerUsage[], { from, until }: Period, now: number): Static<typeof ShownServer>[] =>
  servers.map(server => ({
    instance_id: server.uuid,
    name: server.name,
    tenant_id: server.project_id,
    flavor: server.flavor ?? '',
    hours: hours(until - Math.max(from, server.launched_at!)),
    ...shownSize(server.wish),
    started_at: shownRecordTime(server.launched_at)!,
    ended_at: null,
    state: vmState(server.status),
    uptime: Math.max(0, Math.floor((now - server.launched_at!) / 1_000)),
  }))

interface AskedPeriod extends Period {
  /** Its ends as they are shown: clients look for the microseconds that they sent. */
  start: string
  stop: string
}

/** The period that is asked for. It ends now at the latest, and both ends are now unless given. */
function periodOf(request: ComputeRequest): AskedPeriod {
  const { now } = request
  const [start, end] = [timeIn(request, 'start'), timeIn(request, 'end')]
  const [from, until] = [start?.ms ?? now, end?.ms ?? now]
  if (from > until || (from === until && request.parameter('start') !== null)) {
    throw problem('compute_invalid', {
      reason: 'Invalid start time. The start time cannot occur after the end time.',
    })
  }
  // Of the time to come nothing has run.
  const last = Math.max(from, Math.min(until, now))
  return {
    from,
    until: last,
    start: start?.shown ?? shownRecordTime(from),
    stop: end?.ms === last ? end.shown : shownRecordTime(last),
  }
}

const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,6})?$/

function timeIn(request: ComputeRequest, name: 'start' | 'end'): { ms: number; shown: string } | null {
  const given = request.parameter(name)
  if (given === null) return null
  const [, day, time, fraction = ''] = TIME.exec(given) ?? []
  const ms = day === undefined ? NaN : Date.parse(`${day}T${time}${fraction.slice(0, 4)}Z`)
  if (Number.isNaN(ms)) throw problem('compute_invalid', { reason: 'Datetime is in invalid format' })
  return { ms, shown: `${day}T${time}.${fraction.slice(1).padEnd(6, '0')}` }
}
