// Config drives in the forms in which clients give them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { configDriveIso, configDriveUrl, isSigned, wrongConfigDrive } from './config-drive.ts'
import { isoOf } from './iso9660.ts'

const deployedWith = (configdrive: unknown, more: object = {}) => ({
  uuid: '5f3b1c4e-0000-4000-8000-000000000001',
  name: 'n1',
  instanceUuid: null,
  instanceInfo: { configdrive },
  ...more,
})
const ISO = isoOf('config-2', new Map([['openstack/latest/user_data', Buffer.from('#!/bin/sh')]]))

void test('an object becomes a volume with the files that cloud-init looks for', () => {
  const iso = configDriveIso(deployedWith({ meta_data: { 'a b': 1 }, user_data: 'run me', network_data: {} }))!
  const text = iso.toString('latin1')
  for (const part of ['config-2', 'META_DATA.JSON;1', 'USER_DATA.;1', 'NETWORK_DATA.JSON;1', 'run me']) {
    assert.ok(text.includes(part), part)
  }
  assert.ok(!text.includes('VENDOR_DATA'))
  // Without an id of its own, the machine is known by the instance, or by the node.
  assert.ok(text.includes('"uuid":"5f3b1c4e-0000-4000-8000-000000000001"'))
})

void test('an ISO that was packed by the client is unpacked', () => {
  assert.ok(configDriveIso(deployedWith(gzipSync(ISO).toString('base64')))!.equals(ISO))
})

void test('none, and one that is elsewhere, are not made', () => {
  for (const none of [undefined, null, '', 'https://images.example/drive.iso']) {
    assert.equal(configDriveIso(deployedWith(none)), null)
  }
})

void test('what is wrong is said, and a bomb is not unpacked', () => {
  const wrong = (value: unknown, message: RegExp) => assert.match(wrongConfigDrive(deployedWith(value))!, message)
  wrong('not base64 of gzip', /must be a URL, or an ISO compressed with gzip in base64/)
  wrong(gzipSync('no volume').toString('base64'), /no ISO 9660 volume/)
  wrong(gzipSync(Buffer.alloc(32 * 1024 * 1024)).toString('base64'), /more than 16777216 bytes/)
  wrong({ metadata: {} }, /there is no metadata; there are meta_data, user_data/)
  wrong(7, /a URL, text or an object/)
})

void test('the URL opens the drive of one deployment only', () => {
  const signatureOf = (machine: ReturnType<typeof deployedWith>) =>
    configDriveUrl('http://h/', machine).split('/').at(-2)!
  const one = deployedWith({ user_data: 'a' })
  assert.match(
    configDriveUrl('http://h/', one),
    /^http:\/\/h\/holdfast\/v1\/media\/5f3b1c4e-[^/]*\/[\w-]{43}\/configdrive.iso$/,
  )
  assert.ok(isSigned(one, signatureOf(one)))
  const others = [
    deployedWith({ user_data: 'b' }),
    deployedWith({ user_data: 'a' }, { uuid: '5f3b1c4e-0000-4000-8000-000000000002' }),
    deployedWith({ user_data: 'a' }, { instanceUuid: '5f3b1c4e-0000-4000-8000-000000000003' }),
    deployedWith(undefined),
  ]
  for (const other of others) assert.ok(!isSigned(other, signatureOf(one)))
  for (const guess of ['', 'x', signatureOf(one).slice(1)]) assert.ok(!isSigned(one, guess))
})
