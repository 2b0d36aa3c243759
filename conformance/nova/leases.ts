// Leases over Nova: from create to the natural end with a member's servers, moves of leased servers, and whole hosts.
import assert from 'node:assert/strict'
import { act, awaited, boot, hostOf, order, remove, show, usedVcpus } from './servers.ts'
import { dateIn, gone, is, lease, leap, mayUse, over, shown, withHosts } from './lease.ts'
import { withoutCompute } from './moves.ts'
import type { Scenario } from './rig.ts'
import { until } from './until.ts'

export const natural: Scenario = {
  name: 'lease: to its natural end',
  async run(rig) {
    await rig.os('reservation host create compute-2')
    const wanted = 'resource_type=virtual:instance,vcpus=1,memory_mb=512,disk_gb=1,amount=2'
    const end = await dateIn(rig, 30)
    await rig.os(['reservation', 'lease', 'create', 'story', '--end-date', end, '--reservation', wanted], 'demo')
    const made = await until('it has begun', async () => {
      const all = (await rig.member.holdfast('GET', '/reservation/v1/leases')).body.leases
      const one = all.find(({ name }: { name: string }) => name === 'story')
      return one?.status === 'ACTIVE' && !one.degraded ? { id: one.id, flavor: one.reservations[0].id } : null
    })
    const create = ['server', 'create', '--image', 'cirros', '--flavor', made.flavor, '--nic', 'none', '--wait']
    await rig.os([...create, 'mine-1'], 'demo')
    await rig.os([...create, 'mine-2'], 'demo')
    await rig.os([...create, 'one-too-many'], 'demo')
    const servers: { id: string; name: string; status: string }[] = (await rig.member.get('/servers/detail')).servers
    const refused = servers.filter(({ status }) => status === 'ERROR')
    assert.deepEqual(
      refused.map(({ name }) => name),
      ['one-too-many'],
    )
    const inside = servers.filter(({ status }) => status === 'ACTIVE')
    assert.equal(inside.length, 2)
    for (const { id } of inside) assert.equal(hostOf(await show(rig.admin, id)), 'compute-2')
    // An ordinary server lands elsewhere.
    const other = await boot(rig, rig.member, 'ordinary')
    assert.notEqual(hostOf(await show(rig.admin, other)), 'compute-2')
    // However slow the machine was so far, the end comes soon, and by itself.
    await rig.os(['reservation', 'lease', 'set', 'story', '--end-date', await dateIn(rig, 2)], 'demo')
    await until('the lease is over', async () => (await shown(rig, made)).status === 'TERMINATED', 420)
    for (const { id } of inside) await gone(rig, id)
    assert.equal(await mayUse(rig, made), false)
    assert.equal((await show(rig.admin, other)).status, 'ACTIVE')
    await remove(rig, [other, refused[0]!.id])
    await over(rig, made)
    const [host] = (await rig.admin.holdfast('GET', '/reservation/v1/os-hosts')).body.hosts
    await rig.os(`reservation host delete ${host.id}`)
    // The host is everybody's again, at once.
    const again = await boot(rig, rig.admin, 'again', 'm1.tiny', { availability_zone: 'nova:compute-2' })
    await remove(rig, [again])
  },
}

export const leasedMoves: Scenario = {
  name: 'lease: migrated, resized away',
  async run(rig) {
    await withHosts(rig, ['compute-1', 'compute-2'], async () => {
      const made = await lease(rig, { name: 'moves', amount: 2, affinity: false, end: 60 })
      await is(rig, made, 'ACTIVE')
      const mover = await boot(rig, rig.member, 'mover', made.flavor)
      const before = hostOf(await show(rig.admin, mover))
      await act(rig, mover, { migrate: null })
      await awaited(rig, mover, 'VERIFY_RESIZE')
      assert.ok(['compute-1', 'compute-2'].includes(hostOf(await show(rig.admin, mover))))
      // Both slots are its own until it is confirmed.
      const late = await order(rig.member, 'late', made.flavor)
      await awaited(rig, late, 'ERROR')
      await remove(rig, [late])
      await act(rig, mover, { revertResize: null })
      await awaited(rig, mover, 'ACTIVE')
      assert.equal(hostOf(await show(rig.admin, mover)), before)
      await act(rig, mover, { migrate: null })
      await awaited(rig, mover, 'VERIFY_RESIZE')
      await act(rig, mover, { confirmResize: null })
      await awaited(rig, mover, 'ACTIVE')
      const away = await boot(rig, rig.member, 'away', made.flavor)
      await act(rig, away, { resize: { flavorRef: 'm1.tiny' } })
      await awaited(rig, away, 'VERIFY_RESIZE')
      assert.equal(hostOf(await show(rig.admin, away)), 'compute-3')
      // The end of the lease lets the one that went away go, and deletes the one inside.
      await leap(rig, 61)
      await gone(rig, mover)
      await until('the lease is over', async () => (await shown(rig, made)).status === 'TERMINATED')
      const left = await awaited(rig, away, 'ACTIVE')
      assert.equal(hostOf(left), 'compute-3')
      await usedVcpus(rig, { 'compute-1': 0, 'compute-2': 0, 'compute-3': 1 })
      await remove(rig, [away])
      await over(rig, made)
    })
  },
}

export const leasedEvacuation: Scenario = {
  name: 'lease: evacuated',
  async run(rig) {
    await withHosts(rig, ['compute-1', 'compute-2'], async () => {
      const made = await lease(rig, { name: 'evacuation', amount: 2, affinity: false, end: 60 })
      await is(rig, made, 'ACTIVE')
      const id = await boot(rig, rig.member, 'refugee', made.flavor)
      const from = hostOf(await show(rig.admin, id)) as 'compute-1' | 'compute-2'
      await withoutCompute(rig, from, async () => {
        await act(rig, id, { evacuate: {} })
        await until('it is elsewhere', async () => hostOf(await show(rig.admin, id)) !== from)
        await awaited(rig, id, 'ACTIVE')
        // The lease ends while the server holds places on both hosts.
        await leap(rig, 61)
        await gone(rig, id)
      })
      await until('the lease is over', async () => (await shown(rig, made)).status === 'TERMINATED')
      await over(rig, made)
    })
  },
}
