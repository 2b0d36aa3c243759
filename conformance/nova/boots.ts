// Servers of every usual kind: one by the command, twenty at once, as many as fit and all gone again.
import assert from 'node:assert/strict'
import { allServers, awaited, boot, order, remove, usedVcpus } from './servers.ts'
import type { Rig, Scenario } from './rig.ts'
import { until } from './until.ts'

/** Four of m1.large fit on each of three hosts: 8 GiB, of which Nova gives out one and a half. */
const FULL = 12

export const boots: Scenario = {
  name: 'boots',
  async run(rig) {
    const words = 'server create --image cirros --flavor m1.tiny --nic none --wait s1 -f value -c id'
    const mine = await rig.os(words, 'demo')
    const theirs = await rig.os(words)
    await remove(rig, [mine, theirs])
    const [first, second] = [
      await boot(rig, rig.admin, 'on-1', 'm1.tiny', { availability_zone: 'nova:compute-1' }),
      await boot(rig, rig.admin, 'on-2', 'm1.tiny', { availability_zone: 'nova:compute-2' }),
    ]
    await usedVcpus(rig, { 'compute-1': 1, 'compute-2': 1, 'compute-3': 0 })
    await remove(rig, [first, second])
    await usedVcpus(rig, { 'compute-1': 0, 'compute-2': 0, 'compute-3': 0 })
  },
}

export const twentyAtOnce: Scenario = {
  name: 'twenty at once',
  async run(rig) {
    const ids = await many(rig, 20)
    for (const id of ids) await awaited(rig, id, 'ACTIVE')
    await remove(rig, ids)
  },
}

export const toCapacity: Scenario = {
  name: 'to capacity and back',
  async run(rig) {
    const ids = await many(rig, FULL + 3, 'm1.large')
    const settled = await until('all are settled', async () => {
      const all = await Promise.all(ids.map(async id => String((await rig.admin.get(`/servers/${id}`)).server.status)))
      return all.includes('BUILD') ? null : all
    })
    assert.equal(settled.filter(status => status === 'ACTIVE').length, FULL)
    assert.equal(settled.filter(status => status === 'ERROR').length, 3)
    await remove(rig, ids)
    await usedVcpus(rig, { 'compute-1': 0, 'compute-2': 0, 'compute-3': 0 })
    const again = await boot(rig, rig.admin, 'again')
    await remove(rig, [again])
    assert.deepEqual(await allServers(rig), [])
  },
}

const many = (rig: Rig, count: number, flavor?: string) =>
  Promise.all(Array.from({ length: count }, (_, i) => order(rig.admin, `many-${i}`, flavor)))
