import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discreet } from './discreet.ts'
import { type Driver, HardwareFailure, type Json, type Machine, type SerialLine, type Site } from './port.ts'

const driverInfo: Json = {
  redfish_address: 'https://bmc7.lab:8443/rack',
  redfish_username: 'ann',
  redfish_password: 'hush-hush',
  ipmi_address: '10.0.0.7',
  ipmi_username: 'a',
  more: { snmp_community: 'common' },
}
const machine = { driverInfo } as unknown as Machine
const WORDS =
  'The BMC at bmc7.lab:8443 (https://bmc7.lab:8443/rack, bmc7.lab, 10.0.0.7:623, 192.0.2.9:8443) refuses user ann and user a, ' +
  'hush-hush, common; annual, 1.2.3: GET https://u:p@other/x?token=mine&b=1'
const TOLD =
  'The BMC at redfish_address (redfish_address, redfish_address, ipmi_address:623, (an address)) refuses user redfish_username and user ipmi_username, ' +
  '******, ******; annual, 1.2.3: GET https://******@other/x?token=******&b=1'

/** A driver that says all that it knows, wherever it can. */
class Loose {
  readonly name = 'loose'
  #fail = () => new HardwareFailure(WORDS)
  validate = () => WORDS
  validateStep = () => WORDS
  async run(_task: unknown, _machine: unknown, site: Site) {
    await site.note({ event: WORDS, output: WORDS })
    return { kind: 'done' as const, found: { notes: [WORDS], inventory: { hostname: 'ann' } } }
  }
  async readPower() {
    throw this.#fail()
  }
  async ask({ name }: { name: string }) {
    if (name === 'validate') return { power: WORDS, management: null }
    return { indicators: 'ann' }
  }
  async openConsole(): Promise<SerialLine> {
    const failure = this.#fail()
    // oxlint-disable-next-line require-yield
    async function* output(): AsyncGenerator<Buffer> {
      throw failure
    }
    return { output: output(), write: () => {}, close: async () => {} }
  }
}

const message = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: Error) => [error instanceof HardwareFailure, error.message],
  )

test('nothing that a driver says tells where a BMC is and how to get in', async () => {
  const driver = discreet(new Loose() as unknown as Driver) as unknown as Loose & Driver
  const { signal } = new AbortController()
  assert.equal(driver.validate('power', machine), TOLD)
  assert.equal(driver.validateStep('deploy', {} as never, machine), TOLD)
  const noted: object[] = []
  const site = { note: async (entry: object) => void noted.push(entry), signal } as unknown as Site
  const result = await driver.run({} as never, machine, site)
  assert.deepEqual(result, { kind: 'done', found: { notes: [TOLD], inventory: { hostname: 'ann' } } })
  assert.deepEqual(noted, [{ event: TOLD, output: TOLD }])
  assert.deepEqual(await message(driver.readPower(machine, signal)), [true, TOLD])
  const verdicts = await driver.ask({ name: 'validate', args: {} } as never, machine, signal)
  assert.deepEqual(verdicts, { power: TOLD, management: null })
  const line = await driver.openConsole(machine, { takesOver: false, signal })
  assert.deepEqual(await message(Array.fromAsync(line.output)), [true, TOLD])
})

test('what the machine says of itself is passed on as it is', async () => {
  const driver = discreet(new Loose() as unknown as Driver) as unknown as Loose & Driver
  const answer = await driver.ask({ name: 'indicators', args: {} } as never, machine, new AbortController().signal)
  assert.deepEqual(answer, { indicators: 'ann' })
})
