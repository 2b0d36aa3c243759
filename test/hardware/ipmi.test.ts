// The ipmi driver with a BMC that is simulated by OpenIPMI.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ipmi } from '../../src/metal/drivers/ipmi/driver.ts'
import { HardwareFailure, type Machine, type Site, type Task } from '../../src/metal/drivers/port.ts'
import { interfacesFor } from '../../src/metal/drivers/registry.ts'
import { type Bmc, ipmitool, lacking, startBmc } from '../support/ipmi-sim.ts'

const path = process.env['PATH'] ?? ''
const pause = (ms: number, signal?: AbortSignal) => sleep(Math.min(ms, 20), null, signal && { signal })
const newDriver = () => new Ipmi({ file: ipmitool, path, pauseMs: 0, pause })
const { signal } = new AbortController()

function machineWith(driverInfo: object, more: Partial<Machine> = {}): Machine {
  return {
    uuid: '00000000-0000-4000-8000-000000000001',
    name: 'a',
    resourceClass: null,
    extra: {},
    powerState: null,
    driverInfo: { ...driverInfo },
    driverInternalInfo: {},
    properties: {},
    instanceInfo: {},
    instanceUuid: null,
    targetRaidConfig: {},
    interfaces: interfacesFor(newDriver(), {}),
    ...more,
  }
}

function siteAt(part = 0) {
  const begun: string[] = []
  const notes: string[] = []
  const site: Site = {
    part,
    begin: async (_index, { step }) => void begun.push(step),
    note: async ({ event }) => void notes.push(event),
    signal,
  }
  return { site, begun, notes }
}

suite('the ipmi driver', { skip: lacking }, () => {
  let bmc: Bmc
  const driver = newDriver()
  const machine = (more?: Partial<Machine>) => machineWith(bmc.driverInfo, more)
  const run = async (step: Task['step'], args: Task['args'] = {}, of = machine()) => {
    const result = await driver.run({ step, args, resumed: false, attempt: '1', holder: null }, of, siteAt().site)
    assert.equal(result.kind, 'done')
    return result.kind === 'done' ? result.found.powerState : undefined
  }
  before(async () => (bmc = await startBmc()))
  after(() => bmc[Symbol.asyncDispose]())

  test('power targets end when the machine reads so', async () => {
    assert.equal(await run('power on'), 'power on')
    assert.equal(bmc.power(), '1')
    assert.equal(await run('rebooting'), 'power on')
    assert.equal(await run('soft rebooting'), 'power on')
    assert.equal(await run('soft power off', { timeout: 30 }), 'power off')
    assert.equal(bmc.power(), '0')
    assert.equal(await run('power off'), 'power off')
    assert.equal(await run('rebooting'), 'power on')
    assert.equal(await run('power off'), 'power off')
  })

  test('power that someone else switched is read from the machine', async () => {
    bmc.setPower('1')
    assert.equal(await driver.readPower(machine(), signal), 'power on')
    assert.equal(await run('verify'), 'power on')
    bmc.setPower('0')
    assert.deepEqual(await driver.ask({ name: 'power_state', args: {} }, machine(), signal), {
      power_state: 'power off',
    })
  })

  test('the boot device is set in the form of its firmware, and read back', async () => {
    const bios = machine({ properties: { capabilities: 'cpus:2,boot_mode:bios' } })
    for (const one of [machine(), bios]) {
      for (const boot_device of ['cdrom', 'pxe', 'disk']) {
        await driver.ask({ name: 'set_boot_device', args: { boot_device, persistent: false } }, one, signal)
        const found = await driver.ask({ name: 'boot_device', args: {} }, one, signal)
        assert.equal((found as { boot_device: string }).boot_device, boot_device)
      }
    }
    const wrong = { name: 'set_boot_device', args: { boot_device: 'floppy', persistent: true } } as const
    await assert.rejects(driver.ask(wrong, bios, signal), /Invalid boot device floppy/)
  })

  test('sensors and events', async () => {
    const { sensors } = (await driver.ask({ name: 'sensors', args: {} }, machine(), signal)) as { sensors: object[] }
    assert.partialDeepStrictEqual(sensors, [{ sensor: 'Temp CPU' }])
    const { events } = (await driver.ask({ name: 'events', args: {} }, machine(), signal)) as { events: object[] }
    assert.partialDeepStrictEqual(events, [{ severity: 'Warning' }])
  })

  test('what the BMC refuses is told in its words', async () => {
    await assert.rejects(driver.ask({ name: 'inject_nmi', args: {} }, machine(), signal), {
      message: /refused: Set Chassis Power Control to Diag failed/,
    })
  })

  test('deploy boots from the network; tearing down ends with power off and the disk', async () => {
    bmc.setPower('1')
    const { site, begun } = siteAt()
    const deployed = await driver.run(
      { step: 'deploy', args: {}, resumed: false, attempt: '1', holder: null },
      machine(),
      site,
    )
    assert.deepEqual(deployed, { kind: 'done', found: { powerState: 'power on' } })
    assert.deepEqual(begun, ['power_off', 'network_boot', 'power_on'])
    assert.equal(bmc.boot(), 'pxe')
    assert.equal(await run('tearDown'), 'power off')
    assert.deepEqual([bmc.power(), bmc.boot()], ['0', 'default'])
  })

  test('who takes over goes on with the part that was begun', async () => {
    const { site, begun } = siteAt(2)
    await driver.run({ step: 'deploy', args: {}, resumed: false, attempt: '1', holder: null }, machine(), site)
    assert.deepEqual(begun, ['power_on'])
    assert.equal(bmc.power(), '1')
  })

  test('cleaning switches off, and says that nothing was erased', async () => {
    const { site, notes } = siteAt()
    await driver.run({ step: 'clean', args: {}, resumed: false, attempt: '1', holder: null }, machine(), site)
    assert.equal(bmc.power(), '0')
    assert.match(notes.join(), /erases no disks/)
    const steps = { clean_steps: [{ interface: 'deploy', step: 'erase_devices' }] }
    await assert.rejects(run('clean', steps), /no clean steps/)
  })

  test('a wrong password is told apart from a BMC that is away', async () => {
    const wrong = machineWith({ ...bmc.driverInfo, ipmi_password: 'wr0ng' })
    const told = (await driver.ask({ name: 'validate', args: {} }, wrong, signal)) as { power: string }
    assert.match(told.power, /answered and refused the session: the password, user admin/)
    await using other = await startBmc()
    await other.crash()
    const away = driver.readPower(machineWith(other.driverInfo), signal)
    await assert.rejects(away, { message: /^Nobody answered at 127\.0\.0\.1 port/ })
    await other.start()
    assert.equal(await driver.readPower(machineWith(other.driverInfo), signal), 'power off')
  })

  test('a signal ends the process of ipmitool', async () => {
    await using other = await startBmc()
    await other.crash()
    const stopping = new AbortController()
    const read = driver.readPower(machineWith(other.driverInfo), stopping.signal)
    while (commandLines().every(line => !line.includes(String(other.port)))) await sleep(10)
    stopping.abort()
    await assert.rejects(read, { name: 'AbortError' })
    assert.deepEqual(
      commandLines().filter(line => line.includes(String(other.port))),
      [],
    )
  })

  test('no command line shows the password', async () => {
    const seen: string[] = []
    const over = new AbortController()
    const watching = (async () => {
      while (!over.signal.aborted) {
        seen.push(...commandLines().filter(line => line.includes(String(bmc.port))))
        await sleep(1)
      }
    })()
    for (let i = 0; i < 5; i++) await driver.readPower(machine(), signal)
    over.abort()
    await watching
    assert.ok(seen.some(line => line.includes('ipmitool')))
    assert.deepEqual(
      seen.filter(line => line.includes('s3cret')),
      [],
    )
  })

  test('the serial console: what is typed arrives, what is printed is read, and the session is given back', async () => {
    for (let round = 0; round < 2; round++) {
      const line = await driver.openConsole(machine(), { takesOver: false, signal })
      line.write(Buffer.from('first\r'))
      let read = ''
      for await (const piece of line.output) {
        // The simulator takes the first packet of a session for a repetition if the session before had only one.
        if (read === '') line.write(Buffer.from('~.ls\x1f.\r'))
        read += piece.toString('latin1')
        if (read.includes('~.ls.')) break
      }
      await line.close()
    }
    assert.equal(bmc.typed(), 'first\r~.ls.\r'.repeat(2))
  })

  test('a serial console that is lost says so', async () => {
    const line = await driver.openConsole(machine(), { takesOver: false, signal })
    const lost = assert.rejects(Array.fromAsync(line.output), HardwareFailure)
    const ours = (text: string) => text.includes(String(bmc.port)) && text.includes('sol activate')
    for (const { pid, text } of commands()) if (ours(text)) process.kill(pid)
    await lost
    await line.close()
    const wrong = machineWith({ ...bmc.driverInfo, ipmi_password: 'wr0ng' })
    await assert.rejects(driver.openConsole(wrong, { takesOver: true, signal }), /refused the session/)
  })
})

test('without ipmitool the driver says what is missing', async () => {
  const driver = new Ipmi({ file: null, path, pauseMs: 0, pause })
  assert.match(driver.lacks()!, /ipmitool is not installed/)
  await assert.rejects(
    driver.readPower(machineWith({ ipmi_address: '127.0.0.1' }), signal),
    /ipmitool is not installed/,
  )
})

function commands(): { pid: number; text: string }[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        return { pid: Number(pid), text: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') }
      } catch {
        return []
      }
    })
}

const commandLines = () => commands().map(({ text }) => text)
