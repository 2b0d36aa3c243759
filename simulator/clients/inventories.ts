// An operator of Placement: changes inventories and traits of providers under claims, and makes and removes providers.
import { GONE, type Known, type Model } from '../model.ts'
import type { Chance } from '../port.ts'
import { type Actor, Client } from './actor.ts'

interface Provider {
  uuid: string
  known: Known
  generation: number
}

const textOf = (totals: Record<string, number>): string =>
  Object.keys(totals).length === 0
    ? 'empty'
    : Object.keys(totals)
        .sort()
        .map(name => `${name}=${totals[name]}`)
        .join()

async function inventoriesOf(client: Client, uuid: string): Promise<string | null> {
  const { status, body } = await client.get(`/placement/resource_providers/${uuid}/inventories`)
  if (status === 404) return GONE
  if (status !== 200) return null
  const found = Object.entries(body.inventories as Record<string, { total: number }>)
  return textOf(Object.fromEntries(found.map(([name, { total }]) => [name, total])))
}

interface Options {
  model: Model
  /** Made before: others claim on them, so their generations change at any time. */
  shared: readonly string[]
  until: number
  pauseMs: number
}

export function stockkeeper({ model, shared, until, pauseMs }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    const own: Provider[] = []
    const sure = () => own.filter(({ known }) => known.isSure && known.now !== GONE)
    const url = (uuid: string) => `/placement/resource_providers/${uuid}`
    const acts = {
      make: async () => {
        const uuid = chance.uuid()
        const known = model.keep(`provider ${uuid}`, one => inventoriesOf(one, uuid))
        const parent = sure().length > 0 && chance.happens(0.4) ? chance.pick(sure()).uuid : null
        const body = { name: `p-${uuid}`, uuid, ...(parent && { parent_provider_uuid: parent }) }
        const { outcome } = await model.write(known, 'empty', () => client.post('/placement/resource_providers', body))
        if (outcome !== 'refused') own.push({ uuid, known, generation: 0 })
      },
      stock: async () => {
        if (sure().length === 0) return
        const provider = chance.pick(sure())
        const totals: Record<string, number> = { VCPU: 1 + chance.int(8) }
        if (chance.happens(0.5)) totals['DISK_GB'] = 1 + chance.int(8)
        const inventories = Object.fromEntries(Object.entries(totals).map(([name, total]) => [name, { total }]))
        const body = { resource_provider_generation: provider.generation, inventories }
        const ask = () => client.put(`${url(provider.uuid)}/inventories`, body)
        const { outcome, body: said } = await model.write(provider.known, textOf(totals), ask)
        if (outcome === 'done') provider.generation = said.resource_provider_generation
        if (outcome === 'refused')
          client.found(
            'model',
            `nobody else changes provider ${provider.uuid}, but its generation ${provider.generation} is refused: ${JSON.stringify(said)}`,
          )
      },
      remove: async () => {
        if (sure().length === 0) return
        const provider = chance.pick(sure())
        // One with children stays.
        await model.write(provider.known, GONE, () => client.del(url(provider.uuid)))
      },
      /** Of what others claim on: more or less of it, as far as it goes. */
      resize: async () => {
        await resize(client, chance, chance.pick(shared))
      },
      traits: async () => {
        const uuid = chance.pick(shared)
        const { status, body } = await client.get(`${url(uuid)}/traits`)
        if (status !== 200) return
        const traits = ['HW_CPU_X86_AVX', 'HW_CPU_X86_SSE', 'STORAGE_DISK_SSD'].filter(() => chance.happens(0.5))
        await client.put(`${url(uuid)}/traits`, {
          resource_provider_generation: body.resource_provider_generation,
          traits,
        })
      },
      look: async () => {
        if (sure().length > 0) await model.look(chance.pick(sure()).known, client)
      },
    }
    const weighted = [acts.make, acts.stock, acts.stock, acts.remove, acts.resize, acts.traits, acts.look]
    while (service.now() < until) {
      await chance.pick(weighted)()
      await service.sleep(chance.int(pauseMs))
    }
  }
}

async function resize(client: Client, chance: Chance, provider: string, least = 4): Promise<void> {
  const url = `/placement/resource_providers/${provider}/inventories`
  const { status, body } = await client.get(url)
  if (status !== 200) return
  const given = { resource_provider_generation: body.resource_provider_generation, total: least + chance.int(16) }
  await client.put(`${url}/VCPU`, given)
}

interface Resizing extends Omit<Options, 'model' | 'shared'> {
  /** The one that it changes now. */
  place: (now: number) => string
  least: number
}

/** Changes how much there is of what others claim on. */
export function resizer({ place, until, pauseMs, least }: Resizing): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    while (service.now() < until) {
      await resize(client, chance, place(service.now()), least)
      await service.sleep(chance.int(pauseMs))
    }
  }
}
