// Those who may not: Placement's clients who would take what Bare Metal manages, and tenants who look at all they can see.
import { type Actor, Client, memberOf } from './actor.ts'

interface Options {
  until: number
  pauseMs: number
}

/** Tries to release what Bare Metal manages. */
export function intruder({ until, pauseMs }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    while (service.now() < until) {
      await service.sleep(chance.int(pauseMs))
      const { status, body } = await client.get('/baremetal/v1/allocations')
      const active =
        status === 200
          ? (body.allocations as { uuid: string; state: string }[]).filter(one => one.state === 'active')
          : []
      if (active.length === 0) continue
      const { uuid } = chance.pick(active)
      const { outcome } = await client.del(`/placement/allocations/${uuid}`)
      if (outcome === 'done') client.found('ownership', `Placement released ${uuid}, an allocation of Bare Metal`)
    }
  }
}

/** Looks at every list, as a member of a project. */
export function onlooker({ project, until, pauseMs }: Options & { project: string }): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told, memberOf(project))
    const lists: readonly [url: string, member: string, isOwn: (one: Record<string, unknown>) => boolean][] = [
      ['/baremetal/v1/allocations', 'allocations', one => one['owner'] === project],
      ['/baremetal/v1/nodes/detail?limit=1000', 'nodes', one => one['owner'] === project || one['lessee'] === project],
      ['/baremetal/v1/reservations', 'reservations', one => one['owner'] === project],
      ['/reservation/v1/leases', 'leases', one => one['project_id'] === project],
    ]
    while (service.now() < until) {
      const [url, member, isOwn] = chance.pick(lists)
      const { status, body } = await client.get(url)
      const shown = status === 200 ? (body[member] as Record<string, unknown>[]) : []
      for (const one of shown.filter(each => !isOwn(each))) {
        client.found('tenancy', `${project} sees in ${url}: ${JSON.stringify(one).slice(0, 200)}`)
      }
      await service.sleep(chance.int(pauseMs))
    }
  }
}
