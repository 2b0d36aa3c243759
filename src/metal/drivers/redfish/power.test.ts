// Power on a BMC of memory: what it is told, and how long it is waited for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, PowerTarget } from '../port.ts'
import { type Bmc, BmcRefusal } from './bmc.ts'
import { readPower, switchPower } from './power.ts'

interface Script {
  state?: string
  /** What the BMC reports after each command, one reading after another; the last stays. */
  after?: Record<string, readonly string[]>
  /** Refuses this many commands with the status. */
  refusals?: { status: number; times: number }
  types?: readonly string[] | null
  /** The types are said in the action's information. */
  info?: readonly string[]
}

/** A BMC with nothing but power; `sent` are the commands, `waitedMs` the pauses. */
function bmcOf({ state = 'Off', after = {}, refusals, types = ALL, info }: Script) {
  const sent: string[] = []
  let readings: string[] = [state]
  let left = refusals?.times ?? 0
  const waits: number[] = []
  const bmc = {
    system: async () => ({ path: '/redfish/v1/Systems/1', body: systemBody(readings, types, info) }),
    find: async (path: string | null) =>
      path === '/info' ? { path, body: { Parameters: [{ Name: 'ResetType', AllowableValues: info }] } } : null,
    post: async (path: string, body: Json) => {
      const type = String(body['ResetType'])
      sent.push(type)
      if (left-- > 0) throw new BmcRefusal('no', { status: refusals!.status, messageIds: [] })
      readings = [...(after[type] ?? readings)]
      return { path, body: {} }
    },
  } as unknown as Bmc
  return { bmc, sent, waits, pause: async (ms: number) => void waits.push(ms) }
}

const ALL = ['On', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart']

function systemBody(readings: string[], types: readonly string[] | null, info: readonly string[] | undefined): Json {
  const PowerState = readings.length > 1 ? readings.shift() : readings[0]
  const action = {
    target: '/reset',
    ...(info ? { '@Redfish.ActionInfo': '/info' } : types && { 'ResetType@Redfish.AllowableValues': types }),
  }
  return { PowerState, Actions: { '#ComputerSystem.Reset': action } }
}

const QUICK = { On: ['On'], ForceOff: ['Off'], GracefulShutdown: ['Off'], GracefulRestart: ['On'] }

const COMMANDS: [PowerTarget, from: string, sent: string[], to: string][] = [
  ['power on', 'Off', ['On'], 'power on'],
  ['power on', 'On', [], 'power on'],
  ['power on', 'PoweringOn', [], 'power on'],
  ['power off', 'On', ['ForceOff'], 'power off'],
  ['power off', 'Off', [], 'power off'],
  ['rebooting', 'On', ['ForceOff', 'On'], 'power on'],
  ['rebooting', 'Off', ['On'], 'power on'],
  ['soft power off', 'On', ['GracefulShutdown'], 'power off'],
  ['soft power off', 'Off', [], 'power off'],
  ['soft rebooting', 'On', ['GracefulRestart'], 'power on'],
  ['soft rebooting', 'Off', ['On'], 'power on'],
]
for (const [target, from, sent, to] of COMMANDS) {
  void test(`${target} of a machine that is ${from}: ${sent.join(', ') || 'nothing'} is sent`, async () => {
    const at = bmcOf({ state: from, after: QUICK })
    assert.equal(await switchPower(at.bmc, { target }, at.pause), to)
    assert.deepEqual(at.sent, sent)
  })
}

void test('the old state is waited out, and a state counts when it is seen twice', async () => {
  const at = bmcOf({ after: { On: ['Off', 'Off', 'On', 'Off', 'On', 'On'] } })
  assert.equal(await switchPower(at.bmc, { target: 'power on' }, at.pause), 'power on')
  assert.equal(at.waits.length, 5)
  assert.deepEqual(
    at.waits,
    at.waits.toSorted((a, b) => a - b),
  )
})

void test('a machine that stays on says so, within the time that was given', async () => {
  const at = bmcOf({ state: 'On' })
  await assert.rejects(
    switchPower(at.bmc, { target: 'soft power off', timeout: 20 }, at.pause),
    /still on 20 s after it was told to go off.*may not listen/,
  )
  assert.equal(
    at.waits.reduce((sum, ms) => sum + ms, 0),
    20_000,
  )
  assert.deepEqual(at.sent, ['GracefulShutdown'])
})

void test('a refusal is fine if the machine is there already, and an error otherwise', async () => {
  for (const status of [400, 409]) {
    const there = bmcOf({ state: 'On', refusals: { status, times: 1 } })
    const states = ['On', 'Off']
    there.bmc.system = async () => ({
      path: '/s',
      body: systemBody([states.length > 1 ? states.shift()! : 'Off'], ALL, undefined),
    })
    assert.equal(await switchPower(there.bmc, { target: 'power off' }, there.pause), 'power off')
    const not = bmcOf({ state: 'On', refusals: { status, times: 1 } })
    await assert.rejects(switchPower(not.bmc, { target: 'power off' }, not.pause), BmcRefusal)
  }
})

void test('On that is refused with 409 is sent again for a minute', async () => {
  const patient = bmcOf({ after: QUICK, refusals: { status: 409, times: 3 } })
  assert.equal(await switchPower(patient.bmc, { target: 'power on' }, patient.pause), 'power on')
  assert.deepEqual(patient.sent, ['On', 'On', 'On', 'On'])
  const never = bmcOf({ after: QUICK, refusals: { status: 409, times: 100 } })
  await assert.rejects(switchPower(never.bmc, { target: 'power on' }, never.pause), BmcRefusal)
  assert.equal(never.sent.length, 6)
})

void test('only what the BMC offers is sent, and a soft target is never forced', async () => {
  const at = bmcOf({ state: 'On', after: QUICK, types: ['On', 'ForceOff'] })
  await assert.rejects(
    switchPower(at.bmc, { target: 'soft power off' }, at.pause),
    /has no GracefulShutdown. It offers On, ForceOff/,
  )
  assert.deepEqual(at.sent, [])
})

void test("the offer may be in the action's information, or nowhere", async () => {
  const info = bmcOf({ after: { ForceOn: ['On'] }, info: ['ForceOn', 'ForceOff'] })
  assert.equal(await switchPower(info.bmc, { target: 'power on' }, info.pause), 'power on')
  assert.deepEqual(info.sent, ['ForceOn'])
  const silent = bmcOf({ after: QUICK, types: null })
  assert.equal(await switchPower(silent.bmc, { target: 'power on' }, silent.pause), 'power on')
})

void test('without a graceful restart, a soft reboot shuts down and switches on', async () => {
  const at = bmcOf({ state: 'On', after: QUICK, types: ['On', 'ForceOff', 'GracefulShutdown'] })
  assert.equal(await switchPower(at.bmc, { target: 'soft rebooting' }, at.pause), 'power on')
  assert.deepEqual(at.sent, ['GracefulShutdown', 'On'])
})

void test('a BMC that does not say whether the machine is on is not believed', async () => {
  const { bmc } = bmcOf({ state: 'Perhaps' })
  await assert.rejects(readPower(bmc), /its PowerState is "Perhaps"/)
})
