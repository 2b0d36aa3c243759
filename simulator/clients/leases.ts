// People who book: hosts, parts of hosts, nodes, for a time that begins soon; they change their minds, and use what they get.
import { GONE, type Known, type Model } from '../model.ts'
import type { Chance } from '../port.ts'
import { type Actor, Client, instant, wholeSecond } from './actor.ts'
import { untilDone } from './nodes.ts'

const LEASES = '/reservation/v1/leases'

interface Lease {
  name: string
  id: string | null
  known: Known
  start: number
  end: number
}

type Wish = Record<string, unknown>

interface Options {
  model: Model
  who: string
  wishes: (chance: Chance) => Wish
  until: number
  pauseMs: number
  toleranceMs: number
  /** Takes slots of its instances, and keeps some beyond the end. */
  takesSlots?: boolean
  hosts?: readonly string[]
}

export function lessee({ model, who, wishes, until, pauseMs, toleranceMs, takesSlots, hosts = [] }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      const lease = book(`${who}-${i}`)
      const body = {
        name: lease.name,
        start_date: instant(lease.start),
        end_date: instant(lease.end),
        reservations: [wishes(chance)],
      }
      const made = await model.write(lease.known, 'there', () => client.post(LEASES, body))
      if (made.outcome === 'done') {
        lease.id = made.body.lease.id
        await have(lease, made.body.lease.reservations[0].id)
      }
      await service.sleep(chance.int(pauseMs))
    }

    function book(name: string): Lease {
      const start = wholeSecond(service.now() + 1_000 + chance.int(5_000))
      const lease: Lease = {
        name,
        id: null,
        start,
        end: start + 1_000 * (2 + chance.int(10)),
        known: model.keep(`lease ${name}`, async one => {
          const at = service.now()
          const { status, body } = await one.get(LEASES)
          if (status !== 200) return null
          const shown = (body.leases as { name: string; status: string }[]).find(each => each.name === name)
          if (!shown) return GONE
          judge(lease, shown.status, at, one)
          return 'there'
        }),
      }
      return lease
    }

    /** Nothing begins or ends before its time. */
    function judge({ name, start, end, known }: Lease, status: string, at: number, client: Client): void {
      if (!known.isSure) return
      const isEarly =
        (status === 'ACTIVE' && service.now() < start - toleranceMs) ||
        (['TERMINATING', 'TERMINATED'].includes(status) && at < end - toleranceMs && service.now() < end - toleranceMs)
      if (isEarly)
        client.found(
          'leases',
          `lease ${name} is ${status} ${at - start} ms after its start, ${end - at} ms before its end`,
        )
    }

    async function have(lease: Lease, reservation: string): Promise<void> {
      if (chance.happens(0.3)) await change(lease)
      const at = lease.start + chance.int(Math.max(1, lease.end - lease.start))
      if (chance.happens(0.7)) await service.sleep(Math.max(0, Math.min(at, until) - service.now()))
      if (lease.known.isSure) await model.look(lease.known, client)
      if (takesSlots && chance.happens(0.7)) await useSlot(lease, reservation)
      if (chance.happens(0.3)) await prolong(lease)
      if (chance.happens(0.6)) await model.write(lease.known, GONE, () => client.del(`${LEASES}/${lease.id}`))
    }

    /** Shortly before its end, when it is about to be ended. */
    async function prolong(lease: Lease): Promise<void> {
      const at = lease.end - chance.int(1_200)
      if (at < service.now() || at > until) return
      await service.sleep(at - service.now())
      await change(lease)
      await service.sleep(1_000)
      if (lease.known.isSure) await model.look(lease.known, client)
    }

    async function change(lease: Lease): Promise<void> {
      const end = lease.end + 1_000 * (1 + chance.int(6))
      const { outcome } = await client.put(`${LEASES}/${lease.id}`, { end_date: instant(end) })
      if (outcome === 'done') lease.end = end
    }

    async function useSlot({ end }: Lease, reservation: string): Promise<void> {
      const host = chance.pick(hosts)
      const [root, child] = [await provider(host), await provider(`blazar_${host}`)]
      if (!root || !child) return
      const consumer = chance.uuid()
      const name = `CUSTOM_RESERVATION_${reservation.toUpperCase().replaceAll('-', '_')}`
      const body = {
        allocations: { [root]: { resources: { VCPU: 1 } }, [child]: { resources: { [name]: 1 } } },
        project_id: 'p',
        user_id: 'u',
        consumer_generation: null,
        consumer_type: 'INSTANCE',
      }
      const { outcome } = await client.put(`/placement/allocations/${consumer}`, body)
      if (outcome === 'refused') return
      const keepsMs = chance.happens(0.5) ? Math.max(0, end - service.now()) + chance.int(4_000) : chance.int(2_000)
      await service.sleep(keepsMs)
      await untilDone(client, () => client.del(`/placement/allocations/${consumer}`))
    }

    async function provider(name: string): Promise<string | null> {
      const { status, body } = await client.get(`/placement/resource_providers?name=${name}`)
      return status === 200 ? (body.resource_providers[0]?.uuid ?? null) : null
    }
  }
}

/** Hosts of others are taken into the pool, and out again. */
export function poolKeeper({
  hosts,
  until,
  pauseMs,
}: {
  hosts: readonly string[]
  until: number
  pauseMs: number
}): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    while (service.now() < until) {
      const name = chance.pick(hosts)
      const { status, body } = await client.get('/reservation/v1/os-hosts')
      const host =
        status === 200 &&
        (body.hosts as { id: string; hypervisor_hostname: string }[]).find(one => one.hypervisor_hostname === name)
      if (host) await client.del(`/reservation/v1/os-hosts/${host.id}`)
      else await client.post('/reservation/v1/os-hosts', { name })
      await service.sleep(chance.int(pauseMs))
    }
  }
}

export const nodesOf = (resource_class: string) => (chance: Chance) => ({
  resource_type: 'physical:node',
  resource_class,
  min: 1,
  max: 1 + chance.int(2),
})
export const slotsOf = (chance: Chance) => ({
  resource_type: 'virtual:instance',
  vcpus: 1 + chance.int(3),
  memory_mb: 512,
  disk_gb: 1,
  amount: 1 + chance.int(3),
})
export const partsOf = (chance: Chance): Wish =>
  chance.happens(0.3) ? { resource_type: 'physical:host', min: 1, max: 1 } : slotsOf(chance)
