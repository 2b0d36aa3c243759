// holdfast reservation, in both spellings.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { atShell } from './person.ts'

atShell('holdfast reservation', person => {
  test('the first free node of a list is held, renewed, deployed on, and the hold is gone', async () => {
    await person.node('r1')
    const second = await person.node('r2')
    await person.reads('node maintenance set r1')
    const held = await person.readsJson('reservation create r1 r2 --expires-at 5m')
    assert.equal(held.node_uuid, second)
    const { expires_at } = await person.readsJson(`reservation renew ${held.uuid} --expires-at 2h`)
    assert.ok(Date.parse(expires_at) > Date.parse(held.expires_at) + 3_600_000)
    assert.equal(await person.reads('reservation list --node r2 -f value -c uuid'), held.uuid)
    await person.isRefused('node deploy r2', 4, /is reserved by/)
    assert.equal(await person.reads(`node deploy r2 --reservation ${held.uuid} --wait`), 'r2 is active')
    await person.isRefused(`reservation show ${held.uuid}`, 3, /could not be found/)
  })

  test('the spellings of the ironic command', async () => {
    const node = await person.node('r3')
    const instance = randomUUID()
    const uuid = await person.reads(`reservation-create ${node} ${instance} -f value -c uuid`)
    assert.equal(await person.reads('reservation-list -f value -c uuid -c instance_uuid'), `${uuid} ${instance}`)
    assert.equal(await person.reads(`reservation-show ${uuid} -f value -c node_uuid`), node)
    await person.isRefused(`reservation-create ${node} ${randomUUID()}`, 4, /None of the nodes can be reserved/)
    assert.equal(await person.reads(`reservation-delete ${uuid}`), `${uuid} is gone`)
    await person.isRefused(`reservation-delete ${uuid}`, 3, /could not be found/)
  })
})
