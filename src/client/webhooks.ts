// Webhooks: who is told of events, and where.
import { ApiError } from './errors.ts'
import { type Api, type Json, segment } from './wire.ts'

export interface Webhook extends Json {
  uuid: string
  name: string
  url: string
  /** null for the events of all projects. */
  project: string | null
  /** The types that it is told of; none means all but the quiet ones. */
  types: string[]
  object: string | null
  only_project: string | null
  only_user: string | null
  state: 'active' | 'paused' | 'disabled'
  /** Why it is not active. */
  reason: string | null
}

/** The secret is shown only when it is made. Mail has none. */
export interface WebhookWithSecret extends Webhook {
  secret: string | null
}

export interface WebhookChange {
  url?: string | undefined
  name?: string | undefined
  /** `lease`, `allocation.active`. */
  types?: readonly string[] | undefined
  object?: string | null | undefined
  only_project?: string | null | undefined
  /** By default that of mail is ourselves. */
  only_user?: string | null | undefined
  state?: 'paused' | undefined
}

export interface NewWebhook extends Omit<WebhookChange, 'state'> {
  url: string
  /** Whose events; null for those of all projects. By default those of our own project. */
  project?: string | null | undefined
}

/** What a receiver answered to a test. */
export interface Tried extends Json {
  delivered: boolean
  status: number | null
  ms: number
  text: string
  error: string | null
}

export interface Delivery extends Json {
  id: number
  type: string
  subject: string
  status: 'pending' | 'delivered' | 'dropped'
  attempts: number
  answer_status: number | null
  error: string | null
}

export class Webhooks {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  async list(): Promise<Webhook[]> {
    return (await this.#api.get<{ webhooks: Webhook[] }>('/webhooks')).webhooks
  }
  /** By uuid, or by a name that only one has. */
  async show(ident: string): Promise<Webhook> {
    const named = (await this.list()).filter(({ uuid, name }) => uuid === ident.toLowerCase() || name === ident)
    if (named.length === 1) return named[0]!
    const sentence =
      named.length > 1 ? `There are ${named.length} webhooks ${ident}; say the uuid.` : `There is no webhook ${ident}.`
    throw new ApiError(named.length > 1 ? 409 : 404, sentence, { body: null, requestId: null })
  }
  create = (wanted: NewWebhook) => this.#api.post<WebhookWithSecret>('/webhooks', wanted)
  change = (uuid: string, change: WebhookChange) => this.#api.patch<Webhook>(pathOf(uuid), change)
  delete = (uuid: string) => this.#api.delete(pathOf(uuid))
  /** The old secret signs too for a day. */
  newSecret = (uuid: string) => this.#api.post<WebhookWithSecret>(`${pathOf(uuid)}/secret`)
  test = (uuid: string) => this.#api.post<Tried>(`${pathOf(uuid)}/test`)
  resume = (uuid: string) => this.#api.post<Webhook>(`${pathOf(uuid)}/resume`)
  /** The last ones, newest first. */
  async deliveries(uuid: string): Promise<Delivery[]> {
    return (await this.#api.get<{ deliveries: Delivery[] }>(`${pathOf(uuid)}/deliveries`)).deliveries
  }
  /** Gives up on a delivery, so that those behind it can go. */
  drop = (uuid: string, delivery: number | string) =>
    this.#api.delete(`${pathOf(uuid)}/deliveries/${segment(String(delivery))}`)
}

const pathOf = (uuid: string) => `/webhooks/${segment(uuid)}`
