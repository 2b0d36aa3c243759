// A config drive from the client's request to the BMC that fetches it from us.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { freePort } from './machines.ts'
import { Baremetal, expectFault } from '../support/baremetal.ts'
import { startBmc } from '../support/bmc.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const images = createServer((_, response) => response.end('an ISO'))
let iso = ''
before(async () => {
  await once(images.listen(0, '127.0.0.1'), 'listening')
  iso = `http://127.0.0.1:${(images.address() as AddressInfo).port}/boot.iso`
})
after(() => images.close())

eachDatabase('config drives', ({ create }) => {
  let server: Server
  let api: Baremetal
  before(async () => {
    const port = await freePort()
    // A BMC sends no token, so this shows that none is asked for.
    server = await startServer(await create(), { port, mediaUrl: `http://127.0.0.1:${port}`, auth: 'noauth2' })
    api = new Baremetal(server.origin)
  })
  after(async () => {
    api.close()
    await server.stop()
  })

  void test('reach the machine, in parts if the BMC wants, and are gone with the deployment', async t => {
    const bmc = await startBmc({ downloads: true })
    t.after(() => bmc.stop())
    const node = await api.node({ driver: 'redfish', driver_info: bmc.driverInfo() }, 'available')
    const info = [{ op: 'add', path: '/instance_info/boot_iso', value: iso }]
    expectStatus(await api.patch(`/v1/nodes/${node}`, info), 200)
    await api.go(node, 'active', 'active', { configdrive: { user_data: 'the word is swordfish' } })
    const [, drive] = bmc.downloads
    assert.ok(drive!.includes('the word is swordfish') && drive!.includes('config-2'))
    const url = bmc.resource('Systems/1/VirtualMedia/Usb')['Image'] as string
    assert.ok(url.startsWith(`${server.origin}/holdfast/v1/media/${node}/`))
    assert.equal((await api.show(node)).instance_info.configdrive, '******')

    const whole = Buffer.from(await (await fetch(url)).arrayBuffer())
    const head = await fetch(url, { method: 'HEAD' })
    assert.deepEqual([head.status, Number(head.headers.get('content-length'))], [200, whole.length])
    const part = await fetch(url, { headers: { range: 'bytes=32768-34815' } })
    assert.equal(part.status, 206)
    assert.ok(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(32_768, 34_816)))
    assert.equal((await fetch(url, { headers: { range: `bytes=${whole.length}-` } })).status, 416)

    const other = await api.node({})
    for (const wrong of [url.replace(node, other), url.replace(/[\w-]{43}/, 'a'.repeat(43)), url.replace(node, 'x')]) {
      assert.equal((await fetch(wrong)).status, 404)
    }
    await api.go(node, 'deleted', 'available')
    assert.equal((await fetch(url)).status, 404)
  })

  void test('that make no sense are refused before anything is done', async t => {
    const bmc = await startBmc()
    t.after(() => bmc.stop())
    const attributes = { driver: 'redfish', driver_info: { ...bmc.driverInfo(), boot_iso: iso } }
    const node = await api.node(attributes, 'available')
    const refused = await api.provision(node, 'active', { configdrive: 'nonsense' })
    expectFault(refused, 400, /instance_info\/configdrive: text must be a URL, or an ISO/)
    assert.deepEqual((await api.show(node)).instance_info, {})
  })
})

void test('without --media-url a config drive is refused with what to set', async t => {
  const [server, bmc] = [await startServer('sqlite::memory:'), await startBmc()]
  const api = new Baremetal(server.origin)
  t.after(async () => {
    api.close()
    await server.stop()
    await bmc.stop()
  })
  const attributes = { driver: 'redfish', driver_info: { ...bmc.driverInfo(), boot_iso: iso } }
  const node = await api.node(attributes, 'available')
  const refused = await api.provision(node, 'active', { configdrive: { user_data: 'x' } })
  expectFault(refused, 400, /needs the setting --media-url/)
})
