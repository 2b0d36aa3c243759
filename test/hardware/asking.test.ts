// Questions to machines, through the APIs: what the driver answers, what a failure looks like, who waits for whom.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, uuid, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const HOUR = 3_600

eachMetal('asking a machine', api => {
  const below = (node: string) => `/v1/nodes/${node}`

  void test('the boot device is the machine’s: network at first, then what was set', async () => {
    const node = await api.node()
    const path = `${below(node)}/management/boot_device`
    assert.deepEqual((await api.get(path)).body, { boot_device: 'pxe', persistent: false })
    const { supported_boot_devices: known } = expectStatus(await api.get(`${path}/supported`), 200).body
    assert.ok(known.includes('disk'))
    expectStatus(await api.put(path, { boot_device: 'disk', persistent: true }), 204)
    assert.deepEqual((await api.get(path)).body, { boot_device: 'disk', persistent: true })
    expectFault(await api.put(path, { boot_device: 'nonsense' }), 400, /use one of pxe/)
    assert.equal((await api.show(node)).reservation, null)
  })

  void test('boot mode and secure boot are changed in the background', async () => {
    const node = await api.node()
    const put = (what: string, target: unknown) => api.put(`${below(node)}/states/${what}`, { target })
    const { headers } = expectStatus(await put('boot_mode', 'bios'), 202)
    assert.match(String(headers.location), /states$/)
    const states = async () => (await api.get(`${below(node)}/states`)).body
    await waitFor('the boot mode is set', async () => (await states()).boot_mode === 'bios')
    expectStatus(await put('secure_boot', true), 202)
    await waitFor('secure boot is set', async () => (await states()).secure_boot === true)
    expectFault(await put('boot_mode', 'cassette'), 400)
    for (const wrong of ['perhaps', 0, ['true']]) expectFault(await put('secure_boot', wrong), 400)
    expectFault(await api.put(`${below(node)}/states/boot_mode`, { target: 'bios' }, { version: '1.75' }), 404)
  })

  void test('a boot mode that can’t be set is the node’s last error', async () => {
    const node = await api.node({ driver_info: { fake_fail: 'set_boot_mode' } })
    expectStatus(await api.put(`${below(node)}/states/boot_mode`, { target: 'uefi' }), 202)
    const { last_error, boot_mode } = await waitFor('it has failed', async () => {
      const shown = await api.show(node)
      return shown.last_error !== null && shown
    })
    assert.match(last_error, /told to fail at set_boot_mode/)
    assert.equal(boot_mode, null)
  })

  void test('lights: listed by part, read and switched', async () => {
    const node = await api.node()
    const path = `${below(node)}/management/indicators`
    const names = (await api.get(path)).body.components.map(({ name }: { name: string }) => name)
    assert.deepEqual(names, ['system', 'chassis'])
    const [led] = expectStatus(await api.get(`${path}/system`), 200).body.indicators
    assert.deepEqual(led.states, ['ON', 'OFF', 'BLINKING'])
    assert.deepEqual((await api.get(`${path}/system/led`)).body, { state: 'OFF' })
    expectStatus(await api.put(`${path}/system/led`, { state: 'BLINKING' }), 204)
    assert.deepEqual((await api.get(`${path}/system/led`)).body, { state: 'BLINKING' })
    expectFault(await api.put(`${path}/chassis/alarm`, { state: 'ON' }), 400, /can not be ON/)
    expectFault(await api.get(`${path}/cellar`), 404)
    expectFault(await api.get(`${path}/system/none`), 400, /no indicator none/)
  })

  void test('an interrupt, the sensors and the event log', async () => {
    const node = await api.node()
    expectStatus(await api.put(`${below(node)}/management/inject_nmi`, {}), 204)
    const { sensors } = expectStatus(await api.operator('GET', `/nodes/${node}/sensors`), 200).body
    assert.ok(sensors.some(({ kind }: { kind: string }) => kind === 'Temperature'))
    const { events } = expectStatus(await api.operator('GET', `/nodes/${node}/events`), 200).body
    assert.equal(typeof events[0].text, 'string')
    assert.equal((await api.operator('GET', `/nodes/${uuid()}/sensors`)).status, 404)
  })

  void test('what only one driver can do', async () => {
    const node = await api.node()
    const path = `${below(node)}/vendor_passthru`
    assert.deepEqual(Object.keys((await api.get(`${path}/methods`)).body), ['echo'])
    assert.deepEqual((await api.post(`${path}?method=echo`, { a: 1 })).body, { a: 1 })
    assert.deepEqual((await api.post(`${path}/echo`, { a: 2 })).body, { a: 2 })
    expectFault(await api.put(`${path}/echo`, {}), 400, /takes GET, POST/)
    expectFault(await api.post(`${path}/sing`, {}), 400, /does not support the method sing/)
    expectFault(await api.post(path, {}), 400, /Missing mandatory parameter method/)
    assert.deepEqual((await api.get('/v1/drivers/fake-hardware/vendor_passthru/methods')).body, {})
    expectFault(await api.post('/v1/drivers/fake-hardware/vendor_passthru?method=sing', {}), 400, /sing/)
    const without = await api.node({ vendor_interface: 'no-vendor' })
    expectFault(await api.post(`${below(without)}/vendor_passthru/echo`, {}), 400, /switched off/)
  })

  void test('a machine that fails is no server error: the reason comes in words, and the node stays as it was', async () => {
    const node = await api.node({ driver_info: { fake_fail: ['boot_device', 'set_boot_device', 'sensors'] } })
    const path = `${below(node)}/management/boot_device`
    expectFault(await api.get(path), 400, /told to fail at boot_device/)
    expectFault(await api.put(path, { boot_device: 'disk' }), 400, /told to fail at set_boot_device/)
    const { body, status } = await api.operator('GET', `/nodes/${node}/sensors`)
    assert.equal(status, 400)
    assert.match(JSON.stringify(body), /machine_failed.*told to fail at sensors/)
    const { last_error, reservation } = await api.show(node)
    assert.deepEqual({ last_error, reservation }, { last_error: null, reservation: null })
  })

  void test('a machine that hangs holds up neither other machines nor other work', async () => {
    const slow = await api.node({ driver_info: { fake_delay: { boot_device: HOUR, clean: 0 } } })
    const quick = await api.node()
    const headers = { 'x-auth-token': 'admin', 'x-openstack-ironic-api-version': '1.82' }
    const url = `${api.origin}/baremetal${below(slow)}/management/boot_device`
    const hanging = fetch(url, { headers })
    assert.equal((await api.get(`${below(quick)}/management/boot_device`)).status, 200)
    expectStatus(await api.put(`${below(slow)}/management/boot_device`, { boot_device: 'disk' }), 204)
    await api.go(slow, 'manage', 'manageable')
    // Whoever waits for a node that is gone is told so.
    expectStatus(await api.del(below(slow)), 204)
    assert.equal((await hanging).status, 404)
  })

  void test('nothing is changed while someone else is at the machine', async () => {
    const node = await api.node({ driver_info: { fake_delay: { verify: HOUR, set_boot_device: HOUR } } })
    expectStatus(await api.provision(node, 'manage'), 202)
    expectFault(await api.put(`${below(node)}/management/boot_device`, { boot_device: 'disk' }), 409, /locked/)
    expectFault(await api.put(`${below(node)}/states/boot_mode`, { target: 'uefi' }), 409, /locked/)
    assert.equal((await api.get(`${below(node)}/management/boot_device`)).status, 200)
  })

  void test('validate asks the machine, and says why it does not answer', async () => {
    const validate = async (info: object) => {
      const node = await api.node({ driver_info: info })
      return expectStatus(await api.get(`${below(node)}/validate`), 200).body
    }
    assert.deepEqual((await validate({})).power, { result: true })
    const failing = await validate({ fake_fail: 'validate' })
    assert.match(failing.power.reason, /told to fail at validate/)
    assert.match(failing.management.reason, /told to fail at validate/)
    assert.equal(failing.boot.result, true)
  })

  void test('a question and its answer stay in the audit only when something changed', async () => {
    const node = await api.node()
    expectStatus(await api.get(`${below(node)}/management/boot_device`), 200)
    expectStatus(await api.put(`${below(node)}/management/boot_device`, { boot_device: 'disk' }), 204)
    const path = `/audit?object=${node}`
    const { body } = expectStatus(await api.operator('GET', path), 200)
    const actions = body.entries.map(({ action }: { action: string }) => action)
    assert.ok(actions.includes('baremetal:node:set_boot_device'), String(actions))
    assert.ok(actions.includes('conductor:set_boot_device'), String(actions))
    assert.ok(!actions.includes('baremetal:node:get_boot_device'))
  })
})
