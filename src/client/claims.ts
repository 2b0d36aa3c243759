// Claims: the resources that consumers have of providers (Placement calls them allocations).
import { ApiError } from './errors.ts'
import { type Api, type Json, segment } from './wire.ts'

type Amounts = Record<string, number>
/** By provider. */
export type Resources = Record<string, { resources: Amounts }>

export interface Claim extends Json {
  allocations: Record<string, { resources: Amounts; generation: number }>
  project_id?: string
  user_id?: string
  consumer_generation?: number
  consumer_type?: string
}

export interface Owners {
  project?: string | undefined
  user?: string | undefined
  type?: string | undefined
}

const NOBODY = '00000000-0000-0000-0000-000000000000'

export class Claims {
  readonly #api: Api
  readonly #self: { user: string | null; project: string | null }

  /** `self` is the default owner of new claims. */
  constructor(api: Api, self: { user: string | null; project: string | null }) {
    this.#api = api
    this.#self = self
  }

  /** An unknown consumer has no claims; that is not an error. */
  show = (consumer: string) => this.#api.get<Claim>(`/allocations/${segment(consumer)}`)

  /** Replaces all claims of the consumer; refused if someone else changes them meanwhile. */
  async set(consumer: string, resources: Resources, owners: Owners = {}): Promise<void> {
    const present = await this.show(consumer)
    await this.#api.put(`/allocations/${segment(consumer)}`, this.#body(present, resources, owners))
  }

  delete = (consumer: string) => this.#api.delete(`/allocations/${segment(consumer)}`)

  /** Moves all claims of a consumer to one that has none, in one transaction. */
  async move(from: string, to: string, owners: Owners = {}): Promise<void> {
    const present = await this.show(from)
    if (Object.keys(present.allocations).length === 0) throw new ApiError(404, `Consumer ${from} has no claims.`)
    const resources = Object.fromEntries(
      Object.entries(present.allocations).map(([provider, { resources }]) => [provider, { resources }]),
    )
    const { consumer_generation: _, ...unborn } = present
    await this.#api.post('/allocations', {
      [from]: this.#body(present, {}, {}),
      [to]: this.#body(unborn, resources, owners),
    })
  }

  #body(present: Partial<Claim>, allocations: Resources, { project, user, type }: Owners): Json {
    return {
      allocations,
      project_id: project ?? present.project_id ?? this.#self.project ?? NOBODY,
      user_id: user ?? present.user_id ?? this.#self.user ?? NOBODY,
      consumer_generation: present.consumer_generation ?? null,
      consumer_type: type ?? knownType(present.consumer_type) ?? 'INSTANCE',
    }
  }
}

/** The server shows a missing type as `unknown`, but doesn't accept that word. */
const knownType = (type: string | undefined) => (type === 'unknown' ? undefined : type)
