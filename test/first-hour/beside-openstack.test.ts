// Beside an OpenStack: its own clients make and take machines, and holdfast shows who has what.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { atLogin, until } from '../cli/person.ts'
import { missing, runClient } from '../clients/openstack.ts'
import { Newcomer } from './newcomer.ts'

const skip = missing('python3-openstackclient', 'python3-ironicclient')

atLogin('the first hour beside an OpenStack', ({ api }) => {
  const someone = new Newcomer(() => api.origin)
  const [alice, bob] = [someone.as('alice'), someone.as('bob')]
  const openstack = (who: Newcomer, ...args: string[]) => {
    const domains = { OS_USER_DOMAIN_NAME: 'Default', OS_PROJECT_DOMAIN_NAME: 'Default', OS_IDENTITY_API_VERSION: '3' }
    const env = { ...process.env, ...who.login, ...domains, OS_AUTH_URL: `${api.origin}/identity` }
    return runClient('openstack', args, env)
  }

  test('what its clients make is seen by the names of people, projects and machines', { skip }, async () => {
    const { project } = await connect({ url: api.origin, env: alice.login })
    const metal = ['--driver', 'fake-hardware', '--name', 'metal-1', '--resource-class', 'metal']
    await openstack(alice, 'baremetal', 'node', 'create', ...metal)
    assert.match(await alice.sees('status'), /becomes free with holdfast node manage metal-1 --wait, then/)
    await alice.does(`node set metal-1 --owner ${project}`)
    await alice.does('node manage metal-1 --wait')
    await alice.does('node provide metal-1 --wait')
    assert.match(await bob.sees('status'), /^1 machine, and it is free\./)
    await openstack(bob, 'baremetal', 'allocation', 'create', '--resource-class', 'metal', '--name', 'theirs')
    const isTaken = async () => (await alice.sees('status')).includes('taken')
    assert.ok(await until(isTaken, Boolean))
    assert.match(await alice.sees('status'), /^metal-1 +metal +taken +bob +lab +no end +theirs$/m)
    assert.match(await alice.sees('calendar --for 1d'), /^metal-1 [ ·]*█bob theirs█+▓▒░$/m)
  })

  test('who comes later is told what is in the way, and gets it when a client lets go', { skip }, async () => {
    const wish = 'allocation create --resource-class metal --expires-at 2h'
    await bob.isRefused(`${wish} --name ours --wait`, 4, /ours got no node: 1 of class metal: 1 allocated/)
    await openstack(bob, 'baremetal', 'allocation', 'delete', 'theirs')
    await bob.does(`${wish} --name ours --wait`)
    assert.match(await bob.sees('status --mine'), /^You have 1 machine; it ends/)
    const listed = await openstack(bob, 'baremetal', 'allocation', 'list', '-f', 'value', '-c', 'Name')
    assert.equal(listed.trim(), 'ours')
  })
})
