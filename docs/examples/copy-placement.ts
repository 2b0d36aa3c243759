// Copies what a Placement has into another: classes, traits, providers with all that is theirs, and who has what of them.
// Everything is written so that it can be written again: after a failure, run it once more. Nobody may write meanwhile.
//   OLD_TOKEN=… NEW_TOKEN=… node copy-placement.ts http://old/placement http://new/placement
type Json = Record<string, unknown>

interface Provider {
  uuid: string
  name: string
  parent_provider_uuid: string | null
  generation: number
}

interface Consumer {
  allocations: Record<string, { resources: Record<string, number> }>
  project_id: string
  user_id: string
  consumer_type: string
  consumer_generation: number
}

/** Has consumer types; any Placement since Xena speaks it. */
const VERSION = 'placement 1.38'

export class Placement {
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url.replace(/\/+$/, '')
    this.#token = token
  }

  /** The answer's status and body; one that isn't among those expected is thrown. */
  async send<T>(
    method: string,
    path: string,
    expected: readonly number[],
    body?: Json,
  ): Promise<{ status: number; body: T }> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        'openstack-api-version': VERSION,
        'x-auth-token': this.#token,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!expected.includes(response.status)) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T }
  }

  get = async <T>(path: string) => (await this.send<T>('GET', path, [200])).body
  put = (path: string, body?: Json) => this.send('PUT', path, [200, 201, 204], body)
}

export async function copy(old: Placement, young: Placement, say: (text: string) => void): Promise<void> {
  const isCustom = (name: string) => name.startsWith('CUSTOM_')
  const { resource_classes } = await old.get<{ resource_classes: { name: string }[] }>('/resource_classes')
  for (const { name } of resource_classes) if (isCustom(name)) await young.put(`/resource_classes/${name}`)
  const { traits } = await old.get<{ traits: string[] }>('/traits?name=startswith:CUSTOM_')
  for (const name of traits) await young.put(`/traits/${name}`)

  const { resource_providers } = await old.get<{ resource_providers: Provider[] }>('/resource_providers')
  for (const provider of parentsFirst(resource_providers)) await copyProvider(old, young, provider)
  say(`${resource_providers.length} providers`)

  const consumers = new Set<string>()
  for (const { uuid } of resource_providers) {
    const { allocations } = await old.get<{ allocations: Json }>(`/resource_providers/${uuid}/allocations`)
    for (const consumer of Object.keys(allocations)) consumers.add(consumer)
  }
  for (const uuid of consumers) await copyClaim(old, young, uuid)
  say(`${consumers.size} consumers`)
}

function parentsFirst(providers: readonly Provider[]): Provider[] {
  const byUuid = new Map(providers.map(provider => [provider.uuid, provider]))
  const depth = ({ parent_provider_uuid: parent }: Provider): number => {
    const above = parent === null ? undefined : byUuid.get(parent)
    return above ? depth(above) + 1 : 0
  }
  return providers.toSorted((a, b) => depth(a) - depth(b))
}

async function copyProvider(old: Placement, young: Placement, { uuid, name, parent_provider_uuid }: Provider) {
  const path = `/resource_providers/${uuid}`
  const { status } = await young.send('GET', path, [200, 404])
  if (status === 404) await young.send('POST', '/resource_providers', [200, 201], { uuid, name, parent_provider_uuid })
  for (const part of ['inventories', 'traits', 'aggregates']) {
    const { [part]: content } = await old.get<Json>(`${path}/${part}`)
    const { generation } = await young.get<Provider>(path)
    await young.put(`${path}/${part}`, { [part]: content, resource_provider_generation: generation })
  }
}

/** All that a consumer has, in one transaction, as one consumer of the same type, project and user. */
async function copyClaim(old: Placement, young: Placement, uuid: string): Promise<void> {
  const { allocations, project_id, user_id, consumer_type } = await old.get<Consumer>(`/allocations/${uuid}`)
  const { consumer_generation = null } = await young.get<Partial<Consumer>>(`/allocations/${uuid}`)
  const amounts = Object.entries(allocations).map(([provider, { resources }]) => [provider, { resources }])
  const type = consumer_type === 'unknown' ? 'INSTANCE' : consumer_type
  const claim = {
    allocations: Object.fromEntries(amounts),
    project_id,
    user_id,
    consumer_type: type,
    consumer_generation,
  }
  await young.put(`/allocations/${uuid}`, claim)
}

if (import.meta.main) {
  const [from, to] = process.argv.slice(2)
  if (!from || !to) throw new Error('say where the old Placement is, and where the new one is')
  const { OLD_TOKEN = '', NEW_TOKEN = '' } = process.env
  await copy(new Placement(from, OLD_TOKEN), new Placement(to, NEW_TOKEN), text => process.stdout.write(`${text}\n`))
}
