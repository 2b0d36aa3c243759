// Requests of operators: usage, the check of the invariants, and the audit log.
import type { Api, Json, Query } from './wire.ts'

export type Usages = Record<string, Record<string, number>>

export interface Fsck {
  violations: number
  invariants: { invariant: string; violations: number }[]
}

/** What a change would touch. */
export interface Touched {
  objects: { kind: string; id: string }[]
}

export interface AuditEntry extends Json {
  id: number
  at: string
  user: string | null
  project: string | null
  action: string
  /** `data` is what an event would say of it, such as its name. */
  objects: { kind: string; id: string; data?: { name?: string | null } }[]
  outcome: string
  request_id: string
  address: string
}

export class Usage {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Usage by consumer type. */
  async ofProject(
    project: string,
    { user, type }: { user?: string | undefined; type?: string | undefined } = {},
  ): Promise<Usages> {
    const query = { project_id: project, user_id: user, consumer_type: type }
    return (await this.#api.get<{ usages: Usages }>('/usages', query)).usages
  }
}

export const fsckAt = (api: Api) => () => api.get<Fsck>('/fsck')

/** Newest first; filters are user, project, action, object, request_id, since, until. */
export const auditAt =
  (api: Api) =>
  (where: Query = {}, limit = 100) =>
    api.all<AuditEntry>('/audit', 'entries', where, limit)

/** Short, because this answer needs no work. */
const VERSION_TIMEOUT_MS = 2_000

/** The version of the server at this address, which needs no login; null if no Holdfast answers. */
export async function versionAt(url: string): Promise<string | null> {
  try {
    const answer = await fetch(`${url}/`, { signal: AbortSignal.timeout(VERSION_TIMEOUT_MS) })
    const { name, version } = (await answer.json()) as Json
    return name === 'holdfast' && typeof version === 'string' ? version : null
  } catch {
    return null
  }
}
