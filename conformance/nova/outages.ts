// A part of Nova is away at each step of a lease's life: create, start, servers, end. The ledger goes on, the lease says
// what is wrong, and when the part is back everything follows.
import assert from 'node:assert/strict'
import { boot, order, remove } from './servers.ts'
import { is, lease, leap, type Made, mayUse, over, shown, withHosts } from './lease.ts'
import { reported, serviceOf } from './moves.ts'
import type { PartName, Rig, Scenario } from './rig.ts'
import { until } from './until.ts'

const PARTS = ['api', 'compute-2', 'rabbit', 'mariadb'] as const
/** Without these Nova can say nothing about flavors. */
const NEEDED: ReadonlySet<PartName> = new Set(['api', 'mariadb'])

export const outages: readonly Scenario[] = PARTS.map(part => ({
  name: `lease: without ${part.replace(/-\d/, '')}`,
  run: rig => withHosts(rig, ['compute-2'], () => lifeWithout(rig, part)),
}))

async function lifeWithout(rig: Rig, part: (typeof PARTS)[number]): Promise<void> {
  let made!: Made
  await without(rig, part, async () => {
    made = await lease(rig, { name: `without-${part}`, start: 30, end: 60 })
    if (NEEDED.has(part)) await saysWhy(rig, made)
  })
  await is(rig, made, 'PENDING')
  assert.equal(await mayUse(rig, made), false)

  await without(rig, part, async () => {
    await leap(rig, 31)
    await until('it has begun', async () => (await shown(rig, made)).status === 'ACTIVE')
    if (NEEDED.has(part)) await saysWhy(rig, made)
  })
  await is(rig, made, 'ACTIVE')
  const id = await boot(rig, rig.member, 'inside', made.flavor)

  await without(rig, part, async () => {
    await leap(rig, 30)
    await until('it is ending', async () => (await shown(rig, made)).status !== 'ACTIVE')
    if (part === 'compute-2') await startsNothing(rig, made)
  })
  await until(`server ${id} is gone`, async () => (await rig.admin.nova('GET', `/servers/${id}`)).status === 404)
  await until('the lease is over', async () => (await shown(rig, made)).status === 'TERMINATED')
  await over(rig, made)
}

const saysWhy = (rig: Rig, made: Made) =>
  until('it says that Nova is away', async () => {
    const { degraded, status_reason } = await shown(rig, made)
    return degraded === true && /Nova/.test(String(status_reason))
  })

/** The flavor is closed to the member: what is ordered now is refused or fails, though a slot is free. */
async function startsNothing(rig: Rig, made: Made): Promise<void> {
  await until('the member may not use it', async () => !(await mayUse(rig, made)))
  await assert.rejects(order(rig.member, 'too-late', made.flavor), /40[034]/)
}

/** Does something while a part is stopped, and waits until Nova works again. */
async function without(rig: Rig, part: (typeof PARTS)[number], body: () => Promise<void>): Promise<void> {
  await rig.stop(part)
  try {
    await body()
  } finally {
    await reported(rig, ['compute-1', 'compute-2', 'compute-3'], () => rig.start(part))
  }
}

export const remade: Scenario = {
  name: 'lease: compute service re-made',
  async run(rig) {
    await withHosts(rig, ['compute-3'], async () => {
      const made = await lease(rig, { name: 'remade', start: 30, end: 60 })
      await is(rig, made, 'PENDING')
      await rig.stop('compute-3')
      const { id } = await serviceOf(rig, 'compute-3')
      assert.equal((await rig.admin.nova('DELETE', `/os-services/${id}`)).status, 204)
      await reported(rig, ['compute-3'], () => rig.start('compute-3'))
      await rig.manage('cell_v2', 'discover_hosts')
      await leap(rig, 31)
      await is(rig, made, 'ACTIVE')
      const inside = await bootWhenKnown(rig, made)
      await leap(rig, 30)
      await until('it is gone', async () => (await rig.admin.nova('GET', `/servers/${inside}`)).status === 404)
      await until('the lease is over', async () => (await shown(rig, made)).status === 'TERMINATED')
      await over(rig, made)
    })
    const again = await boot(rig, rig.admin, 'again', 'm1.tiny', { availability_zone: 'nova:compute-3' })
    await remove(rig, [again])
  },
}

/** A server there, once nova-compute has its provider again: it tries once in a period. */
async function bootWhenKnown(rig: Rig, made: Made): Promise<string> {
  return until('a server runs there', async () => {
    const id = await order(rig.member, 'inside', made.flavor)
    const settled = await until('it is settled', async () => {
      const { status } = (await rig.admin.get(`/servers/${id}`)).server
      return status === 'BUILD' ? null : String(status)
    })
    if (settled === 'ACTIVE') return id
    await remove(rig, [id])
    return null
  })
}
