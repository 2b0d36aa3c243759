import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText } from '../shared/json.ts'
import { bmcOf } from './reach.ts'

const CASES: [Record<string, unknown>, string | null][] = [
  [{}, null],
  [{ ipmi_address: '10.0.0.7', ipmi_password: 'secret' }, '10.0.0.7'],
  [{ redfish_address: 'https://root:secret@bmc-7.lab:8443/redfish/v1' }, 'bmc-7.lab'],
  [{ ipmi_address: '' }, null],
  [{ ipmi_address: 7 }, null],
  [{ note: 'its address"' }, null],
]

for (const [info, host] of CASES) {
  void test(`the BMC of ${JSON.stringify(info)} is ${host}`, () => assert.equal(bmcOf(jsonText(info)), host))
}
