// A kernel with a ramdisk, from the client's request to the BMC that fetches the ISO which we made of them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { freePort } from './machines.ts'
import { buildBootIso } from '../../src/metal/drivers/redfish/boot-medium.ts'
import type { Visit } from '../../src/metal/drivers/redfish/visit.ts'
import { BootIsos } from '../../src/metal/media/boot-isos.ts'
import { fetchTo } from '../../src/metal/media/fetched.ts'
import { Baremetal, expectFault } from '../support/baremetal.ts'
import { startBmc } from '../support/bmc.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'

const absent = ['grub-mkrescue', 'xorriso'].filter(name => spawnSync('which', [name]).status !== 0)
const skip = absent.length > 0 && `${absent.join(' and ')} not installed`

const KERNEL = Buffer.alloc(4_096, 'k')
KERNEL.write('HdrS', 514)
const RAMDISK = gzipSync('a ramdisk')

/** How often each path was asked for. */
const asked = new Map<string, number>()
const images = createServer((request, response) => {
  const path = request.url!.split('?')[0]!
  asked.set(path, (asked.get(path) ?? 0) + 1)
  if (path === '/moved') response.writeHead(302, { location: '/vmlinuz' }).end()
  else if (path === '/away') response.writeHead(302, { location: 'file:///etc/passwd' }).end()
  else if (path === '/round') response.writeHead(302, { location: '/round' }).end()
  else if (path === '/secret') response.end('the secret of another service')
  else if (path === '/hangs') return
  else if (/^\/(vmlinuz|initrd)/.test(path)) response.end(path.startsWith('/vmlinuz') ? KERNEL : RAMDISK)
  else response.writeHead(404).end('the body of a failure')
})
let at = ''
before(async () => {
  await once(images.listen(0, '127.0.0.1'), 'listening')
  at = `http://127.0.0.1:${(images.address() as AddressInfo).port}`
})
after(() => {
  images.closeAllConnections()
  images.close()
})

void describe('a kernel with a ramdisk', { skip }, () => {
  let server: Server
  let api: Baremetal
  before(async () => {
    const port = await freePort()
    // A BMC sends no token, so this shows that none is asked for.
    server = await startServer('sqlite::memory:', { port, mediaUrl: `http://127.0.0.1:${port}`, auth: 'noauth2' })
    api = new Baremetal(server.origin)
  })
  after(async () => {
    api.close()
    await server.stop()
  })

  const available = async (t: TestContext, driverInfo: object = {}) => {
    const bmc = await startBmc({ downloads: true })
    t.after(() => bmc.stop())
    const driver_info = { ...bmc.driverInfo(), ...driverInfo }
    return { bmc, node: await api.node({ driver: 'redfish', driver_info }, 'available') }
  }
  const withInfo = async (node: string, value: object) =>
    expectStatus(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/instance_info', value }]), 200)

  void test('boots from an ISO that has them and the parameters, and that is gone with the deployment', async t => {
    const { bmc, node } = await available(t, { kernel_append_params: 'quiet' })
    const kernel_append_params = '%default%  console=ttyS0,115200 ip=dhcp'
    await withInfo(node, { kernel: `${at}/moved?key=1`, ramdisk: `${at}/initrd`, kernel_append_params })
    await api.go(node, 'active', 'active')
    const url = bmc.machine.cd['Image'] as string
    assert.match(url, new RegExp(`^${server.origin}/holdfast/v1/media/${node}/[\\w-]{43}/boot.iso$`))

    const iso = Buffer.from(bmc.downloads[0]!, 'latin1')
    const files = extracted(t, iso)
    assert.ok(files('vmlinuz').equals(KERNEL) && files('initrd').equals(RAMDISK))
    const config = files('boot/grub/grub.cfg').toString()
    assert.match(config, /^ {2}linux \/vmlinuz quiet console=ttyS0,115200 ip=dhcp$/m)
    assert.match(config, /^ {2}initrd \/initrd$/m)
    assert.match(config, /^set timeout=0$/m)

    const head = await fetch(url, { method: 'HEAD' })
    assert.deepEqual([head.status, Number(head.headers.get('content-length'))], [200, iso.length])
    const part = await fetch(url, { headers: { range: 'bytes=32768-34815' } })
    assert.equal(part.status, 206)
    assert.ok(Buffer.from(await part.arrayBuffer()).equals(iso.subarray(32_768, 34_816)))
    assert.equal((await fetch(url, { headers: { range: `bytes=${iso.length}-` } })).status, 416)
    assert.equal(asked.get('/initrd'), 1, 'made once for the conductor, the BMC and the rest')

    assert.equal((await fetch(url.replace(/[\w-]{43}/, 'a'.repeat(43)))).status, 404)
    await api.go(node, 'deleted', 'available')
    assert.equal((await fetch(url)).status, 404)
    // The same words again, but nobody deploys.
    await withInfo(node, { kernel: `${at}/moved?key=1`, ramdisk: `${at}/initrd`, kernel_append_params })
    assert.equal((await fetch(url)).status, 404)
  })

  void test('may be those of the node, for all who get it', async t => {
    const { bmc, node } = await available(t, { kernel: `${at}/vmlinuz-node`, ramdisk: `${at}/initrd-node` })
    await api.go(node, 'active', 'active')
    const config = extracted(t, Buffer.from(bmc.downloads[0]!, 'latin1'))('boot/grub/grub.cfg')
    assert.match(config.toString(), /^ {2}linux \/vmlinuz$/m)
  })

  void test('that can not become an ISO fail the deployment with the reason, and the next one tries again', async t => {
    const { bmc, node } = await available(t)
    const ramdisk = `${at}/initrd-late`
    const failures: [object, RegExp][] = [
      [{ kernel: `${at}/absent?key=secret`, ramdisk }, /can't be made: the kernel at \S+\/absent is not there.* 404\./],
      [{ kernel: `${at}/secret`, ramdisk }, /the kernel at \S+\/secret is no kernel\./],
      [{ kernel: `${at}/vmlinuz`, ramdisk: `${at}/secret` }, /the ramdisk at \S+\/secret is no ramdisk\./],
      [{ kernel: `${at}/away`, ramdisk }, /leads to another kind of address/],
      [{ kernel: `${at}/round`, ramdisk }, /leads from one address to the next/],
      [{ kernel: 'http://127.0.0.1:1/vmlinuz', ramdisk }, /can't be fetched: ECONNREFUSED/],
    ]
    for (const [info, reason] of failures) {
      await withInfo(node, info)
      const { last_error } = await api.go(node, 'active', 'deploy failed')
      assert.match(last_error, reason)
      assert.doesNotMatch(last_error, /key=|secret of|body of/)
    }
    assert.equal(bmc.seen('POST', 'InsertMedia').length, 0)
    await withInfo(node, { kernel: `${at}/vmlinuz`, ramdisk })
    await api.go(node, 'active', 'active')
  })

  void test('that make no sense are refused before anything is done', async t => {
    const { bmc, node } = await available(t)
    const [kernel, ramdisk, boot_iso] = [`${at}/vmlinuz`, `${at}/initrd`, `${at}/boot.iso`]
    const params = (kernel_append_params: unknown) => ({ kernel, ramdisk, kernel_append_params })
    const plain = /may have letters, digits, spaces/
    const refused: [object, RegExp][] = [
      [{ kernel }, /kernel needs a ramdisk/],
      [{ ramdisk }, /ramdisk needs a kernel/],
      [{ kernel, ramdisk, boot_iso }, /boot_iso excludes kernel and ramdisk/],
      [{ boot_iso, kernel_append_params: 'quiet' }, /an ISO brings parameters of its own/],
      [{ kernel, ramdisk, image_source: kernel }, /exclude each other/],
      [{ kernel: 'file:///etc/passwd', ramdisk }, /kernel must be an http or https URL/],
      [{ kernel, ramdisk: 'http://user:word@images.example/' }, /ramdisk must be a URL without a user/],
      [params(7), /must be text/],
      [params('a '.repeat(2_000)), /more than 1900 characters/],
      ...['a\nreboot', 'a; reboot', 'a }', '$root', "'", '"', '\\', 'a|b', 'a&b', '#'].map((text): [object, RegExp] => [
        params(text),
        plain,
      ]),
    ]
    for (const [info, reason] of refused) {
      await withInfo(node, info)
      expectFault(await api.provision(node, 'active'), 400, reason)
    }
    assert.equal(bmc.seen('POST', '').filter(({ path }) => path.includes('/Actions/')).length, 0)
  })
})

/** Reads files of an ISO, with a program of others. */
function extracted(t: TestContext, iso: Buffer): (path: string) => Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kernel-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'boot.iso'), iso)
  return path => {
    const to = join(folder, path.replaceAll('/', '-'))
    const args = ['-osirrox', 'on', '-indev', join(folder, 'boot.iso'), '-extract', `/${path}`, to]
    const read = spawnSync('xorriso', args, { encoding: 'utf8' })
    assert.equal(read.status, 0, read.stderr)
    return readFileSync(to)
  }
}

void test('a file that is too large is refused', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kernel-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const wanted = { url: `${at}/vmlinuz`, called: 'kernel', bytesMax: 1_000 } as const
  await assert.rejects(fetchTo(join(folder, 'kernel'), wanted, t.signal), /has more than 1000 bytes$/)
})

void test('an API without the programs says so', async () => {
  const isos = new BootIsos({ now: () => 0, path: '/nowhere', failed: assert.ifError })
  const boot = { kernel: `${at}/vmlinuz`, ramdisk: `${at}/initrd`, params: '' }
  await assert.rejects(isos.open(boot), /grub-mkrescue is not installed where the API runs/)
  await isos.stop()
})

void test('many who ask at once have it made once, and those that nobody reads are made again', { skip }, async t => {
  let now = 0
  const isos = new BootIsos({ now: () => now, path: process.env['PATH']!, failed: assert.ifError })
  t.after(() => isos.stop())
  const boot = { kernel: `${at}/vmlinuz-many`, ramdisk: `${at}/initrd-many`, params: '' }
  const read = async () => {
    const found = await isos.open(boot)
    if (found === 'being made') return read()
    await found.handle.close()
  }
  await Promise.all([read(), read(), read()])
  assert.equal(asked.get('/vmlinuz-many'), 1)
  now += 24 * 60 * 60_000
  await read()
  assert.equal(asked.get('/vmlinuz-many'), 2)
})

void test('few are made at once, and a service that stops does not wait for them', { skip }, async () => {
  const isos = new BootIsos({ now: () => 0, path: process.env['PATH']!, failed: assert.ifError })
  const openWith = (params: string) => isos.open({ kernel: `${at}/hangs`, ramdisk: `${at}/initrd`, params })
  const failed = ['one', 'two'].map(params => assert.rejects(openWith(params), /the service is stopping/))
  assert.equal(await openWith('three'), 'being made')
  await isos.stop()
  await Promise.all(failed)
})

void describe('the conductor', () => {
  const visitWith = (signal: AbortSignal) => {
    const instanceInfo = { kernel: `${at}/vmlinuz`, ramdisk: `${at}/initrd` }
    const machine = { uuid: 'a-node', instanceUuid: null, instanceInfo, driverInfo: {} }
    return { machine, pause: async () => {}, signal } as unknown as Visit
  }
  const never = new AbortController().signal

  void test('waits while the ISO is being made, and gives up when told to', async t => {
    const answers = [503, 503, 206]
    const giveUp = new AbortController()
    const slow = createServer((_, response) => {
      const status = answers.shift()
      if (status === undefined) giveUp.abort(new Error('enough'))
      response.writeHead(status ?? 503).end()
    })
    t.after(() => slow.close())
    await once(slow.listen(0, '127.0.0.1'), 'listening')
    const mediaUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`
    await buildBootIso(visitWith(never), { mediaUrl }).run(false)
    assert.deepEqual(answers, [])
    await assert.rejects(buildBootIso(visitWith(giveUp.signal), { mediaUrl }).run(false), /enough/)
  })

  void test('names the setting when nobody is there', async () => {
    const run = buildBootIso(visitWith(never), { mediaUrl: 'http://127.0.0.1:1' }).run(false)
    await assert.rejects(run, /Nobody answers at http:\/\/127.0.0.1:1, which --media-url names: ECONNREFUSED/)
  })
})
