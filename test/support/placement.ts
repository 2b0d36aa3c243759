// A client of Placement's API for tests: providers with inventories, claims on them, and fsck.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Answer, Client } from './client.ts'

export type Amounts = Record<string, number>
export type Terms = { total: number } & Record<string, number>

export interface ConsumerBody {
  allocations: Record<string, { resources: Amounts }>
  project_id: string
  user_id: string
  consumer_generation: number | null
  consumer_type: string
}

/** The claims of a consumer by provider, in the form of the newest version. */
export function consumerBody(
  claims: Record<string, Amounts>,
  generation: number | null = null,
  more: Partial<ConsumerBody> = {},
): ConsumerBody {
  const allocations = Object.fromEntries(Object.entries(claims).map(([uuid, resources]) => [uuid, { resources }]))
  const owner = { project_id: 'a-project', user_id: 'a-user', consumer_type: 'INSTANCE' }
  return { allocations, ...owner, consumer_generation: generation, ...more }
}

export class Placement extends Client {
  constructor(...origins: string[]) {
    super('/placement', ...origins)
  }

  /** Creates a provider with these inventories and returns its uuid. */
  async provider(
    inventories: Record<string, number | Terms> = {},
    { parent, name }: { parent?: string; name?: string } = {},
  ): Promise<string> {
    const uuid = randomUUID()
    const body = { name: name ?? `provider-${uuid}`, uuid, ...(parent && { parent_provider_uuid: parent }) }
    expectStatus(await this.post('/resource_providers', body), 200)
    if (Object.keys(inventories).length > 0) expectStatus(await this.setInventories(uuid, inventories), 200)
    return uuid
  }

  async setInventories(provider: string, inventories: Record<string, number | Terms>): Promise<Answer> {
    const terms = Object.entries(inventories).map(([name, terms]) => [
      name,
      typeof terms === 'number' ? { total: terms } : terms,
    ])
    return this.put(`/resource_providers/${provider}/inventories`, {
      resource_provider_generation: await this.generation(provider),
      inventories: Object.fromEntries(terms),
    })
  }

  async generation(provider: string): Promise<number> {
    return expectStatus(await this.get(`/resource_providers/${provider}`), 200).body.generation
  }

  async usages(provider: string): Promise<Amounts> {
    return expectStatus(await this.get(`/resource_providers/${provider}/usages`), 200).body.usages
  }

  claim(
    consumer: string,
    claims: Record<string, Amounts>,
    generation: number | null = null,
    more: Partial<ConsumerBody> = {},
  ): Promise<Answer> {
    return this.put(`/allocations/${consumer}`, consumerBody(claims, generation, more))
  }

  /** The claims of a consumer, by provider. */
  async claims(consumer: string): Promise<Record<string, Amounts>> {
    const { allocations } = expectStatus(await this.get(`/allocations/${consumer}`), 200).body
    return Object.fromEntries(
      Object.entries(allocations as ConsumerBody['allocations']).map(([uuid, { resources }]) => [uuid, resources]),
    )
  }

  /** Checks that no invariant of the ledger is violated. */
  async fsck(): Promise<void> {
    const response = await fetch(`${this.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': this.defaultToken } })
    const report = (await response.json()) as { violations: number; invariants: object[] }
    assert.equal(report.violations, 0, JSON.stringify(report, null, 1))
    assert.ok(report.invariants.length > 0)
  }
}

export function expectStatus(answer: Answer, ...expected: number[]): Answer {
  if (!expected.includes(answer.status)) {
    assert.fail(
      `expected ${expected.join(' or ')}, got ${answer.status}: ${JSON.stringify(answer.body)?.slice(0, 600)}`,
    )
  }
  return answer
}

/** The error code in the answer. */
export const errorCode = ({ body }: Answer): string | undefined => body?.errors?.[0]?.code

/** Is this the one refusal that means "no room left"? */
export const isFull = ({ status, body }: Answer): boolean =>
  status === 409 && /exceed the capacity/.test(String(body?.errors?.[0]?.detail))
