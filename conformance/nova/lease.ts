// Leases for the scenarios: made by the member, on hosts that the admin gave.
import assert from 'node:assert/strict'
import { good, type Loose } from './caller.ts'
import type { Rig } from './rig.ts'
import { until } from './until.ts'

export interface Made {
  id: string
  /** The id of its reservation, and of the flavor. */
  flavor: string
}

const MINUTE_S = 60

/** Gives hosts to leases, does something, and takes them back; a server can be made on each afterwards. */
export async function withHosts(rig: Rig, hosts: readonly string[], body: () => Promise<void>): Promise<void> {
  const ids: string[] = []
  for (const name of hosts) {
    ids.push(good(await rig.admin.holdfast('POST', '/reservation/v1/os-hosts', { name }), `host ${name}`).host.id)
  }
  // After a failure, what is left is swept.
  await body()
  for (const id of ids) {
    await until(`host ${id} is given back`, async () => {
      const { status } = await rig.admin.holdfast('DELETE', `/reservation/v1/os-hosts/${id}`)
      return status < 300 || status === 404
    })
  }
}

/** The minute that is so many from now, by Holdfast's clock, as a lease's date. */
export async function dateIn(rig: Rig, minutes: number): Promise<string> {
  const at = new Date((await rig.now()) + minutes * 60_000)
  return at.toISOString().slice(0, 16).replace('T', ' ')
}

export interface Wanted {
  name: string
  amount?: number
  affinity?: boolean | null
  /** Minutes from now; it starts at once without it. */
  start?: number
  end: number
  vcpus?: number
}

/** A lease of small instances. */
export async function lease(rig: Rig, wanted: Wanted): Promise<Made> {
  const { name, amount = 2, affinity = null, start, end, vcpus = 1 } = wanted
  const body = {
    name,
    start_date: start === undefined ? 'now' : await dateIn(rig, start),
    end_date: await dateIn(rig, end),
    reservations: [
      {
        resource_type: 'virtual:instance',
        amount,
        affinity,
        vcpus,
        memory_mb: 512,
        disk_gb: 1,
        resource_properties: '',
      },
    ],
    events: [],
  }
  const made = good(await rig.member.holdfast('POST', '/reservation/v1/leases', body), `lease ${name}`).lease
  return { id: made.id, flavor: made.reservations[0].id }
}

export const shown = async (rig: Rig, { id }: Made): Promise<Loose> =>
  good(await rig.member.holdfast('GET', `/reservation/v1/leases/${id}`), 'lease').lease

/**
 * Waits until the lease has this status, all its slots, and Nova all that it should. It may be degraded: one that lost its
 * host for a while, because nova-compute could not report, says so to its end.
 */
export async function is(rig: Rig, made: Made, status: string): Promise<void> {
  let last: Loose
  await until(`the lease is ${status}`, async () => {
    last = await shown(rig, made)
    const isWhole = [...last.reservations].every(({ missing_resources }) => missing_resources === false)
    return last.status === status && isWhole && last.status_reason === undefined
  }).catch((error: Error) => assert.fail(`${error.message}; it is ${JSON.stringify(last).slice(0, 600)}`))
  // Access follows the start.
  if (status === 'ACTIVE') await until('the member may use it', () => mayUse(rig, made))
}

/** Moves the clock to so many minutes from now. */
export async function leap(rig: Rig, minutes: number): Promise<void> {
  await rig.advance(minutes * MINUTE_S)
}

/** Whether the member may use the flavor. */
export const mayUse = async (rig: Rig, { flavor }: Made): Promise<boolean> =>
  (await rig.member.nova('GET', `/flavors/${flavor}`)).status === 200

/** Waits until nothing of the lease is in Nova, and deletes it. */
export async function over(rig: Rig, made: Made): Promise<void> {
  await until('its flavor is gone', async () => (await rig.admin.nova('GET', `/flavors/${made.flavor}`)).status === 404)
  good(await rig.member.holdfast('DELETE', `/reservation/v1/leases/${made.id}`), 'deleting the lease')
  await until('the lease is gone', async () => {
    const { status } = await rig.member.holdfast('GET', `/reservation/v1/leases/${made.id}`)
    return status === 404
  })
}

/** Waits until the server is gone from Nova. */
export const gone = (rig: Rig, id: string) =>
  until(`server ${id} is gone`, async () => (await rig.admin.nova('GET', `/servers/${id}`)).status === 404)
