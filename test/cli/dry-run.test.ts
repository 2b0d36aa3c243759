// --dry-run and explain: they say what would come of a command, and change nothing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Holdfast } from '../../src/client/index.ts'
import { type State, stateOf } from '../policy/state.ts'
import { Placement } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { Person, until } from './person.ts'

eachDatabase('holdfast --dry-run', databases => {
  let server: Server
  let state: State
  let holdfast: Holdfast
  const person = new Person(() => server.origin)

  before(async () => {
    const database = await databases.create()
    server = await startServer(database, { auth: 'none', placementPolicy: 'secure' })
    state = await stateOf(database)
    holdfast = await person.library()
    for (const name of ['gpu-1', 'gpu-2']) await person.node(name)
  })
  after(async () => {
    await state.close()
    await server.stop()
  })

  /** Whatever it does must leave no trace, in the audit either. */
  async function unchanged(work: () => Promise<void>): Promise<void> {
    await until(() => state.isQuiet(), Boolean)
    const hash = await state.hash()
    await work()
    await until(() => state.isQuiet(), Boolean)
    assert.equal(await state.hash(), hash)
  }

  const allocated = async (name: string, wanted: object = {}) => {
    const { uuid } = await holdfast.allocations.create({ resource_class: 'gpu', name, ...wanted })
    return until(
      () => holdfast.allocations.show(uuid),
      ({ state }) => state !== 'allocating',
    )
  }

  test('allocation create and run name the nodes that would do', async () => {
    await unchanged(async () => {
      const found = await person.readsJson('allocation create --resource-class gpu --name job --dry-run')
      assert.deepEqual([found.fits, found.count], [true, 2])
      assert.deepEqual(found.nodes.map(({ name }: { name: string }) => name).toSorted(), ['gpu-1', 'gpu-2'])
      const [one] = (
        await person.reads('allocation create --resource-class gpu --candidate-node gpu-2 --dry-run')
      ).split('\n')
      assert.equal(one, 'It would get this node:')
      const file = `/tmp/holdfast-never-${randomUUID()}`
      assert.match(await person.reads(`run --resource-class gpu --dry-run touch ${file}`), /one of 2/)
      assert.equal(existsSync(file), false, 'the command was not run')
    })
  })

  test('without a node they say why, and what would help, with exit code 4', async () => {
    await unchanged(async () => {
      const line = 'allocation create --resource-class gpu --trait CUSTOM_NONE --dry-run'
      await person.isRefused(
        line,
        4,
        /no node: 2 of class gpu: 2 without CUSTOM_NONE \(without CUSTOM_NONE there are 2\)/,
      )
      await person.isRefused('run --resource-class none --dry-run true', 4, /there is none of class none/)
      await person.isRefused('allocation create --dry-run', 2, /resource_class/)
    })
  })

  test('a deletion says what it would touch, or is refused as the deletion itself', async () => {
    const { uuid } = await allocated('held', { candidate_nodes: ['gpu-1'] })
    await unchanged(async () => {
      const told = await person.reads('allocation delete held --dry-run')
      assert.match(told, /^held would go; touched: .*allocation held.*node gpu-1/)
      await person.isRefused('node delete gpu-1 --dry-run', 4, new RegExp(`associated with instance ${uuid}`))
      assert.match(await person.reads('node delete gpu-2 --dry-run'), /node gpu-2/)
      await person.isRefused('node delete none --dry-run', 3, /none could not be found/)
    })
    await holdfast.allocations.delete(uuid)
  })

  test('a deletion of what someone keeps says whom it would ask', async () => {
    const keeper = 'alice@laptop/0123456789abcdef'
    const { uuid } = await allocated('kept', { candidate_nodes: ['gpu-1'], expires_at: '10m', keeper })
    await unchanged(async () => {
      const told = await person.reads('allocation delete kept --dry-run')
      assert.equal(told, 'kept is kept by alice@laptop, who would be asked to let go')
      const now = await person.reads('allocation delete kept --dry-run --now')
      assert.match(now, /^kept would go; touched: .*allocation kept.*node gpu-1/)
    })
    await holdfast.allocations.delete(uuid, { keeper })
  })

  test('reservation create says which node it would hold', async () => {
    const { uuid } = await allocated('taken', { candidate_nodes: ['gpu-1'] })
    await unchanged(async () => {
      const told = await person.reads('reservation create gpu-1 gpu-2 --expires-at 10m --dry-run')
      assert.match(told, /^It would hold node gpu-2 until \S+ \d\d:\d\d\S* UTC\.$/)
      await person.isRefused('reservation create gpu-1 --dry-run', 4, /None of the nodes can be reserved: gpu-1 is/)
    })
    await holdfast.allocations.delete(uuid)
  })

  test('a lease would fit or not, and then when; explain says the same without failing', async () => {
    const wish = '--reservation resource_type=physical:node,resource_class=gpu,min=1,max=1'
    await person.reads('node leasable set gpu-1')
    await unchanged(async () => {
      const told = await person.reads(`lease create week --for 1d ${wish} --dry-run`)
      assert.match(told, /^It would fit:\nreservation +on +slots\n0 +gpu-1 +1$/)
    })
    const booked = await holdfast.leases.create({
      name: 'week',
      start_date: 'now',
      end_date: new Date(Date.now() + 86_400_000).toISOString().slice(0, 16).replace('T', ' '),
      reservations: [{ resource_type: 'physical:node', resource_class: 'gpu', min: '1', max: '1' }],
    })
    await until(
      () => holdfast.leases.show(booked.id),
      ({ status }) => status === 'ACTIVE',
    )
    await unchanged(async () => {
      await person.isRefused(
        `lease create next --for 1h ${wish} --dry-run`,
        4,
        /doesn't fit: 0 of 1 gpu is free then; gpu-1 is booked from .* by week;.*\(it fits from tomorrow/,
      )
      const explained = await person.readsJson(`lease explain --for 1h ${wish}`)
      assert.equal(explained.fits, false)
      assert.equal(explained.windows[0].start_date, booked.end_date)
      const lasting = await person.reads('node leasable show gpu-1 -f json')
      assert.equal(JSON.parse(lasting).bookings[0].lease_id, booked.id)
      assert.match(
        await person.reads('lease delete week --dry-run'),
        /^week would go; touched: .*lease week.*node gpu-1/,
      )
      await person.isRefused('node leasable unset gpu-1', 4, new RegExp(`booked for lease ${booked.id}`))
    })
    await holdfast.leases.delete(booked.id)
    await until(
      () => holdfast.leases.list(),
      leases => leases.length === 0,
    )
    await until(
      () => holdfast.nodes.show('gpu-1'),
      ({ instance_uuid }) => instance_uuid === null,
    )
    await person.reads('node leasable unset gpu-1')
    assert.deepEqual(await holdfast.leasableNodes.list(), [])
  })

  test('claims show before and after, with the room there is', async () => {
    const api = new Placement(server.origin)
    const { body } = await api.post('/resource_providers', { name: 'compute-1' })
    await api.put(`/resource_providers/${body.uuid}/inventories`, {
      resource_provider_generation: 0,
      inventories: { VCPU: { total: 8 } },
    })
    api.close()
    const [one, other] = [randomUUID(), randomUUID()]
    await holdfast.claims.set(one, { [body.uuid]: { resources: { VCPU: 3 } } })
    await unchanged(async () => {
      const told = await person.reads(`claim set ${one} --allocation rp=compute-1,VCPU=8 --dry-run`)
      assert.match(told, /^compute-1 +VCPU +3 +8 +8 +8 +-$/m)
      const more = `claim set ${other} --allocation rp=compute-1,VCPU=6 --dry-run`
      await person.isRefused(more, 4, /VCPU of compute-1: 9 of 8 would be used/)
      const moved = await person.reads(`claim move ${one} ${other} --dry-run`)
      assert.match(moved, new RegExp(`^${one} +${body.uuid} +VCPU +3 +0\n${other} +${body.uuid} +VCPU +0 +3$`, 'm'))
      await person.isRefused(`claim move ${other} ${one} --dry-run`, 3, /has no claims/)
      await person.isRefused(`claim move ${one} ${one} --dry-run`, 4, /has claims already/)
    })
  })
})
