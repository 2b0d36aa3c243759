// The agents of ramdisks: they find their node, prove themselves once, and whoever waits for them goes on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../src/shared/limits.ts'
import { eachMetal, expectFault, uuid, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const mac = () =>
  `52:54:${uuid()
    .slice(0, 8)
    .replaceAll(/(..)(?=.)/g, '$1:')}`
const NOBODY = { token: null } as const
const URL = 'http://192.0.2.1:9999'

eachMetal('agents', api => {
  const lookUp = (query: string) => api.get(`/v1/lookup?${query}`, NOBODY)
  const beat = (node: string, more: object = {}, version = '1.82') =>
    api.post(`/v1/heartbeat/${node}`, { callback_url: URL, agent_version: '9.1.0', ...more }, { ...NOBODY, version })

  /** A node in `wait call-back`, with a port. */
  async function waiting(seconds: number | string = 600, attributes: object = {}) {
    const node = await api.node({ driver_info: { fake_call_back: { deploy: seconds } }, ...attributes }, 'available')
    const address = mac()
    expectStatus(await api.post('/v1/ports', { node_uuid: node, address }), 201)
    expectStatus(await api.provision(node, 'active'), 202)
    return { node, address }
  }

  async function called(seconds?: number) {
    const { node, address } = await waiting(seconds)
    await api.until(node, 'wait call-back')
    const { body } = expectStatus(await lookUp(`addresses=${address}`), 200)
    return { node, address, token: body.config.agent_token as string }
  }

  void test('find their node without a login, and are told the token once', async () => {
    const { node, address } = await waiting()
    await api.until(node, 'wait call-back')
    const { body, headers } = expectStatus(await lookUp(`addresses=${mac()},${address.toUpperCase()},nonsense`), 200)
    assert.equal(body.node.uuid, node)
    assert.equal(body.config.heartbeat_timeout, 300)
    assert.ok(body.config.agent_token.length >= 32)
    assert.equal(headers['cache-control'], 'no-store')
    const again = expectStatus(await lookUp(`node_uuid=${node}`), 200).body
    assert.equal(again.config.agent_token, '******')
    const shown = await api.show(node)
    assert.equal(shown.driver_internal_info.agent_secret_token, '******')
    assert.ok(!JSON.stringify([again, shown]).includes(body.config.agent_token))
  })

  void test('a heartbeat makes the node go on, and says where the agent is', async () => {
    const { node, token } = await called()
    expectStatus(await beat(node, { agent_token: token, agent_verify_ca: 'a certificate' }), 202)
    const shown = await api.until(node, 'active')
    // The agent is gone with its step.
    assert.deepEqual(shown.driver_internal_info, {})
  })

  void test('what an agent says is kept while its node waits', async () => {
    const { node, token } = await called()
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`, {}), 202)
    expectStatus(await beat(node, { agent_token: token }), 202)
    const { last_error } = await api.until(node, 'active')
    assert.equal(last_error, null)
  })

  /** The entries of the audit about a node, by what was done. */
  const entriesOf = async (node: string, action: string) =>
    (await api.operator('GET', `/audit?object=${node}&action=${action}`)).body.entries as Record<string, unknown>[]

  void test('an agent is told on which disk to write and how the machine boots, and nothing else of its node', async () => {
    const root_device = { wwn: '0x5000' }
    const image = {
      kernel: 'http://k',
      ramdisk: 'http://r',
      image_source: 'http://i',
      user_data: 'x',
      configdrive: 'x',
    }
    const capabilities = { boot_mode: 'uefi', token: 'x' }
    const { node } = await waiting(600, {
      properties: { root_device, cpu_arch: 'x86_64', capabilities: 'a:b' },
      instance_info: { ...image, root_device, capabilities },
    })
    await api.until(node, 'wait call-back')
    const { body } = expectStatus(await lookUp(`node_uuid=${node}`), 200)
    const { links: _, ...told } = body.node
    assert.deepEqual(told, {
      uuid: node,
      properties: { root_device, capabilities: 'a:b' },
      instance_info: { root_device, capabilities: { boot_mode: 'uefi', token: '******' } },
      driver_internal_info: {},
    })
  })

  void test('the audit says which machine got a token and which called, and has nothing of strangers', async () => {
    const { node, token } = await called()
    expectStatus(await lookUp(`node_uuid=${node}`), 200)
    expectStatus(await beat(node, { agent_token: 'a stranger’s' }), 404)
    expectStatus(await beat(node, { agent_token: token }), 202)
    for (const action of ['baremetal:driver:ipa_lookup', 'baremetal:node:ipa_heartbeat']) {
      const found = await entriesOf(node, action)
      assert.equal(found.length, 1, action)
      const { user, project, roles, address, outcome } = found[0]!
      assert.deepEqual([user, project, roles, address, outcome], ['agent', null, [], '127.0.0.1', 'done'])
    }
  })

  void test('strangers are told the same, whether a node is not there, not waiting or locked', async () => {
    const idle = await api.node({}, 'available')
    const address = mac()
    expectStatus(await api.post('/v1/ports', { node_uuid: idle, address }), 201)
    const busy = { node: await api.node({ driver_info: { fake_delay: { deploy: 600 } } }, 'available'), address: mac() }
    expectStatus(await api.post('/v1/ports', { node_uuid: busy.node, address: busy.address }), 201)
    expectStatus(await api.provision(busy.node, 'active'), 202)
    await waitFor('a conductor works on it', async () => (await api.show(busy.node)).provision_state === 'deploying')
    const texts = new Set<string>()
    for (const query of [
      `addresses=${mac()}`,
      `addresses=${address}`,
      `node_uuid=${idle}`,
      `node_uuid=${uuid()}`,
      `addresses=${busy.address}`,
      `node_uuid=${busy.node}`,
    ]) {
      texts.add(JSON.stringify(expectStatus(await lookUp(query), 404).body))
    }
    for (const node of [idle, busy.node, uuid(), 'no-such-name']) {
      texts.add(JSON.stringify(expectStatus(await beat(node, { agent_token: 'wrong' }), 404).body))
    }
    assert.equal(texts.size, 1)
    for (const query of ['', 'addresses=', 'addresses=nonsense', 'node_uuid=nonsense', 'nonsense=1']) {
      expectFault(await lookUp(query), 400)
    }
    expectFault(await lookUp(`addresses=${Array.from({ length: 300 }, () => 'x').join()}`), 400)
    expectStatus(await api.get(`/v1/lookup?addresses=${address}`, { version: '1.21' }), 404)
  })

  void test('little is read of what a stranger sends', async () => {
    const agent_status_message = 'x'.repeat(limits.strangersBodyBytesMax)
    expectStatus(await beat(uuid(), { agent_token: 'x', agent_status_message }), 413)
  })

  void test('of two nodes with ports of one machine none is told', async () => {
    const [one, other] = [await called(), await called()]
    expectFault(await lookUp(`addresses=${one.address},${other.address}`), 404)
  })

  void test('a heartbeat that is not right is refused, and the node goes on waiting', async () => {
    const { node, token } = await called()
    expectFault(await beat(node), 400, /agent_token/)
    expectFault(await beat(node, { agent_token: 'wrong' }), 404)
    for (const callback_url of [
      null,
      '',
      'x',
      7,
      'ftp://192.0.2.1',
      'http://',
      'http:// x',
      `http://${'x'.repeat(2_000)}`,
    ]) {
      expectFault(await beat(node, { agent_token: token, callback_url }), 400)
    }
    expectFault(await beat(node, { agent_token: token, agent_version: null }), 400, /agent_version/)
    expectFault(await beat(node, { agent_token: token, nonsense: 1 }), 400)
    expectFault(await beat(node, { agent_token: token }, '1.61'), 400, /agent_token/)
    expectFault(await beat(node, { agent_token: token, agent_verify_ca: 'x' }, '1.67'), 400, /agent_verify_ca/)
    expectFault(await beat(uuid(), { agent_token: token }), 404)
    expectStatus(await beat(node, { agent_token: token }, '1.21'), 404)
    assert.equal((await api.show(node)).provision_state, 'wait call-back')
  })

  void test('an agent that comes from elsewhere is not believed', async () => {
    const { node, token } = await called()
    expectStatus(await beat(node, { agent_token: token }), 202)
    await api.until(node, 'active')
    expectFault(await beat(node, { agent_token: token }), 404)
  })

  void test('a machine that never calls back has failed, with the reason, and can be deployed again', async () => {
    const { node } = await waiting(0.05)
    const shown = await api.until(node, 'deploy failed')
    assert.match(shown.last_error, /not called back in time.*wait call-back/)
    expectStatus(await api.change(node, 'driver_info', {}), 200)
    await api.go(node, 'active', 'active')
  })

  void test('cleaning, inspection and rescue wait for an agent too', async () => {
    const driver_info = { fake_call_back: { inspect: 600, rescue: 600 } }
    const node = await api.node({ driver_info }, 'manageable')
    expectStatus(await api.provision(node, 'inspect'), 202)
    await api.until(node, 'inspect wait')
    const { config } = expectStatus(await lookUp(`node_uuid=${node}`), 200).body
    expectStatus(await beat(node, { agent_token: config.agent_token }), 202)
    await api.until(node, 'manageable')
  })

  void test('a token ends when the machine is switched off', async () => {
    const { node, token } = await called()
    await waitFor('it is deleted', async () => (await api.provision(node, 'deleted')).status === 202)
    await api.until(node, 'available')
    assert.deepEqual((await api.show(node)).driver_internal_info, {})
    expectFault(await beat(node, { agent_token: token }), 404)
  })

  void test('events of other services are checked and taken', async () => {
    const event = { event: 'network.bind_port', port_id: uuid(), mac_address: mac(), status: 'ACTIVE' }
    expectStatus(await api.post('/v1/events', { events: [event, { ...event, device_id: 'x' }] }), 204)
    for (const wrong of [
      {},
      { events: 7 },
      { events: [7] },
      { events: [{}] },
      { events: [{ ...event, event: 'nonsense' }] },
      { events: [{ ...event, port_id: 'x' }] },
      { events: [{ ...event, mac_address: 'x' }] },
      { events: [{ ...event, more: 1 }] },
      { events: [], more: 1 },
    ]) {
      expectFault(await api.post('/v1/events', wrong), 400)
    }
    expectStatus(await api.post('/v1/events', { events: [] }, { version: '1.53' }), 404)
  })
})
