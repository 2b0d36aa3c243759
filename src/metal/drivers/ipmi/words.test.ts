import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf, type Run } from './words.ts'

const place = { address: '10.0.0.1', port: 623, username: 'admin', privilege: 'ADMINISTRATOR', suite: 17 }
const failed = (run: Partial<Run>) =>
  failureOf({ code: 1, stdout: '', stderr: '', isQuick: true, isLate: false, ...run }, place)
const NO_SESSION = 'Error: Unable to establish IPMI v2 / RMCP+ session\n'

test('what ended well is no failure, whatever it complained about', () => {
  assert.equal(failed({ code: 0, stderr: 'Unable to Get Channel Cipher Suites' }), null)
})

test('a refused session and a silent BMC differ by time alone, and in the words', () => {
  const quick = failed({ stderr: NO_SESSION })!
  assert.equal(quick.kind, 'failed')
  assert.match(quick.message, /10\.0\.0\.1 port 623 answered and refused the session: the password, user admin, /)
  const slow = failed({ stderr: NO_SESSION, isQuick: false })!
  assert.equal(slow.kind, 'away')
  assert.match(slow.message, /^Nobody answered at 10\.0\.0\.1 port 623\./)
  assert.equal(failed({ code: null, isLate: true })!.kind, 'away')
})

test('a cipher suite that is refused is worth trying another one', () => {
  const stderr = `Error in open session response message : invalid authentication algorithm\n\n${NO_SESSION}`
  assert.equal(failed({ stderr })!.kind, 'suite')
})

test('a busy BMC is worth asking again', () => {
  for (const stderr of ['insufficient resources for session', 'Node busy', 'BMC initialization in progress']) {
    assert.equal(failed({ stderr })!.kind, 'busy', stderr)
  }
})

test('other refusals are told in the words of ipmitool', () => {
  const stderr = 'Set Chassis Power Control to Diag failed: Invalid data field in request\n'
  assert.match(failed({ stderr })!.message, /refused: Set Chassis Power Control to Diag failed: Invalid data field/)
  assert.match(failed({ stderr: 'Insufficient privilege level' })!.message, /ipmi_priv_level/)
  assert.match(failed({ stderr: 'Address lookup for nowhere failed' })!.message, /can't be found/)
  assert.match(failed({ code: 127 })!.message, /ipmitool ended with 127/)
})
