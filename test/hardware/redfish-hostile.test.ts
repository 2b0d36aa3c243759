// A BMC that means harm: what it answers costs bounded time and memory, and can't be stored or shown as anything else.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { answerTo } from '../../src/metal/drivers/redfish/answers.ts'
import { biosShown } from '../../src/metal/drivers/redfish/bios.ts'
import { inspect } from '../../src/metal/drivers/redfish/inspect.ts'
import { Bmcs } from '../../src/metal/drivers/redfish/pool.ts'
import { HardwareFailure, type Json, type Machine } from '../../src/metal/drivers/port.ts'
import { limits } from '../../src/shared/limits.ts'

const link = (path: string) => ({ '@odata.id': path })
const ROOT = { Systems: link('/S'), Chassis: link('/C'), Managers: link('/M') }

/** Answers with the text that is told for a path. Others get the root. */
async function hostile(t: TestContext, told: (path: string) => unknown, info: Json = {}) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url!)
    const answer = request.url === '/redfish/v1/' ? ROOT : (told(request.url!) ?? {})
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    const [, status = '200'] = /^(\d{3}) /.exec(text) ?? []
    response.writeHead(Number(status), { 'content-type': 'application/json' }).end(text.replace(/^\d{3} /, ''))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const bmcs = new Bmcs({ pauseMs: 1, tries: 1 })
  t.after(async () => {
    await bmcs.stop()
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const driverInfo = { redfish_address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...info }
  const machine = { uuid: 'U', driverInfo, driverInternalInfo: {}, interfaces: {} } as unknown as Machine
  return { bmc: bmcs.of(machine, AbortSignal.timeout(60_000)), machine, paths }
}

const SYSTEM = { PowerState: 'On', ...link('/S/1') }
const withSystem = (system: Json, told: (path: string) => unknown = () => null) => {
  return (path: string) =>
    path === '/S' ? { Members: [link('/S/1')] } : path === '/S/1' ? { ...SYSTEM, ...system } : told(path)
}

const MEGABYTES = limits.redfishAnswerBytesMax - 1_000
const TEXTS: Record<string, string> = {
  'tags that never end': '<'.repeat(MEGABYTES),
  'styles that never end': '<style'.repeat(MEGABYTES / 6),
  spaces: ' x'.repeat(MEGABYTES / 2),
}

for (const [name, text] of Object.entries(TEXTS)) {
  test(`an error page of ${name} is read in a moment`, { timeout: 20_000 }, async t => {
    const { bmc } = await hostile(t, () => `400 ${text}`)
    await assert.rejects(bmc.system(), HardwareFailure)
  })
}

test('links that are no links cost no time', { timeout: 20_000 }, async t => {
  const long = `${'/'.repeat(MEGABYTES)}x`
  const { bmc } = await hostile(t, path => (path === '/S' ? { Members: [link(long)] } : '404 {}'), {
    redfish_system_id: '1',
  })
  await assert.rejects(bmc.system(), HardwareFailure)
})

test('a collection whose pages never end is read so far', { timeout: 20_000 }, async t => {
  let page = 0
  const { bmc, paths } = await hostile(t, () => ({ Members: [], 'Members@odata.nextLink': `/pages/${++page}` }))
  assert.deepEqual(await bmc.members('/pages'), [])
  assert.ok(paths.length <= limits.redfishPagesMax + 1, String(paths.length))
})

test('a collection whose members are huge is refused before memory ends', { timeout: 60_000 }, async t => {
  const huge = JSON.stringify({ Name: 'x'.repeat(MEGABYTES - 100) })
  const members = Array.from({ length: 100 }, (_, at) => link(`/big/${at}`))
  const { bmc, paths } = await hostile(t, path => (path === '/big' ? { Members: members } : huge))
  await assert.rejects(bmc.members('/big'), /tells more than/)
  assert.ok(paths.length < 20, String(paths.length))
})

test('an inspection of huge parts is ended before memory ends', { timeout: 60_000 }, async t => {
  const huge = JSON.stringify({ CapacityBytes: 1e12, Name: 'x'.repeat(MEGABYTES - 100) })
  const Drives = Array.from({ length: 100 }, (_, at) => link(`/big/${at}`))
  const told = withSystem({ Storage: link('/storage') }, path =>
    path === '/storage'
      ? { Members: [{ Id: '1', Drives, ...link('/storage/1') }] }
      : path.startsWith('/big')
        ? huge
        : null,
  )
  const { bmc, paths } = await hostile(t, told)
  await assert.rejects(inspect(bmc), /tells more than/)
  assert.ok(paths.length < 30, String(paths.length))
})

test('a system of a million managers is asked for a few', { timeout: 30_000 }, async t => {
  const ManagedBy = Array.from({ length: 300_000 }, (_, at) => link(`/m/${at}`))
  const { bmc, paths } = await hostile(t, withSystem({ Links: { ManagedBy } }))
  await bmc.managers()
  assert.ok(paths.length < limits.redfishMembersMax + 10, String(paths.length))
})

test('names of what every object has are no values', async t => {
  for (const word of ['__proto__', 'constructor', 'toString']) {
    const system = { PowerState: word, MemorySummary: { TotalSystemMemoryGiB: 4 }, Processors: link('/cpus') }
    const cpu = { Id: '1', ProcessorType: 'CPU', InstructionSet: word, TotalCores: 4, ...link('/cpus/1') }
    const told = withSystem({ ...system, Links: { Chassis: [link('/C/1')] } }, path =>
      path === '/cpus'
        ? { Members: [cpu] }
        : path === '/C/1'
          ? { Sensors: link('/sensors') }
          : path === '/sensors'
            ? { Members: [{ Id: '1', ReadingType: word, Reading: 1, ...link('/sensors/1') }] }
            : null,
    )
    const { bmc, machine } = await hostile(t, told)
    const { inventory } = await inspect(bmc)
    assert.equal(inventory!['cpu_arch'], undefined)
    const { signal } = new AbortController()
    const visit = { bmc, machine, signal, pause: async () => {} }
    await assert.rejects(answerTo({ name: 'power_state', args: {} }, visit), HardwareFailure)
    const { sensors } = (await answerTo({ name: 'sensors', args: {} }, visit)) as {
      sensors: { kind: string }[]
    }
    assert.deepEqual(
      sensors.map(({ kind }) => kind),
      ['Other'],
    )
  }
})

test('what a BMC says has no control characters, and not the password in any of its messages', async t => {
  const said = 'no \u0000 \u001b[31m, secret-word is wrong'
  const error = { error: { '@Message.ExtendedInfo': [{ Message: said, MessageId: 'x.SessionLimitExceeded' }] } }
  for (const type of ['basic', 'session', 'auto']) {
    const { bmc } = await hostile(t, () => `400 ${JSON.stringify(error)}`, {
      redfish_username: 'admin',
      redfish_password: 'secret-word',
      redfish_auth_type: type,
    })
    await assert.rejects(bmc.system(), (reason: Error) => {
      assert.ok(reason instanceof HardwareFailure)
      assert.doesNotMatch(reason.message, /(?![\t\n])\p{Cc}|secret-word/u)
      return true
    })
  }
})

test('values that nest without end, in settings and names, are left out', { timeout: 60_000 }, async t => {
  const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`
  const body = `{"@odata.id":"/x","Id":${deep},"MACAddress":"52:54:00:00:00:01","ProcessorType":${deep},"PowerState":${deep},"Attributes":{"Deep":${deep},"Flat":"1"},"ProcessorMemory":[{"MemoryType":${deep}}]}`
  const told = withSystem({ EthernetInterfaces: link('/list'), Processors: link('/list'), Bios: link('/x') }, path =>
    path === '/list' ? { Members: [link('/x')] } : body,
  )
  const { bmc, machine } = await hostile(t, told)
  await inspect(bmc)
  assert.deepEqual(await biosShown({ bmc, machine }), { bios: [{ name: 'Flat', value: '1' }] })
})

test('a network card whose name is as long as a book costs no time', { timeout: 20_000 }, async t => {
  const Id = `${'manager '.repeat(1_000_000)}\n`
  const told = withSystem({ EthernetInterfaces: link('/nics') }, path =>
    path === '/nics' ? { Members: [{ Id, MACAddress: '52:54:00:00:00:01', ...link('/nics/1') }] } : null,
  )
  const { bmc } = await hostile(t, told)
  await inspect(bmc).catch(error => assert.ok(error instanceof HardwareFailure))
})

test('more disks than a function takes arguments are a report like any other', { timeout: 30_000 }, async t => {
  const Devices = Array.from({ length: 200_000 }, () => ({ CapacityBytes: 1e12 }))
  const told = withSystem({ SimpleStorage: link('/simple') }, path =>
    path === '/simple' ? { Members: [{ Id: '1', Devices, ...link('/simple/1') }] } : null,
  )
  const { bmc } = await hostile(t, told)
  const { inventory } = await inspect(bmc)
  assert.ok((inventory!['disks'] as unknown[]).length <= limits.redfishMembersMax)
})
