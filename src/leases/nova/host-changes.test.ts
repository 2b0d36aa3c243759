import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NovaHypervisor } from '../../nova/port.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { hostChanges, type KnownHost, WELL } from './host-changes.ts'

const uuid = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`
const known = (id: number, more: Partial<KnownHost> = {}): KnownHost => ({
  id: id as ProviderId,
  uuid: uuid(id),
  name: `compute-${id}`,
  said: WELL,
  ...more,
})
const listed = (id: number, more: Partial<NovaHypervisor> = {}): NovaHypervisor => ({
  id: uuid(id),
  hostname: `compute-${id}`,
  service: `compute-${id}`,
  state: 'up',
  status: 'enabled',
  disabledReason: null,
  ...more,
})
const changes = (hosts: readonly KnownHost[], all: readonly NovaHypervisor[], more: readonly string[] = []) =>
  hostChanges(hosts, all, new Set([...hosts.map(host => host.uuid), ...more]))

test('what is as it was said last is no change', () => {
  const closed = { state: 'up', status: 'disabled', disabled_reason: 'disk' } as const
  const hosts = [known(1), known(2, { said: closed })]
  assert.deepEqual(changes(hosts, [listed(1), listed(2, { status: 'disabled', disabledReason: 'disk' })]), [])
})

test('a host that is no longer listed is down, and keeps whether it was disabled', () => {
  const said = { state: 'up', status: 'disabled', disabled_reason: 'disk' } as const
  const gone = { state: 'down', status: 'disabled', disabled_reason: 'gone from Nova' } as const
  assert.deepEqual(changes([known(1, { said })], []), [{ id: 1, name: 'compute-1', uuid: null, said: gone }])
  assert.deepEqual(changes([known(1, { said: gone })], []), [], 'it is gone already')
})

test('a name with a new uuid is the same host', () => {
  const [change, ...more] = changes([known(1)], [listed(7, { hostname: 'compute-1' })])
  assert.deepEqual([change?.uuid, change?.said, more], [uuid(7), WELL, []])
})

test('two hosts that exchange their names keep their uuids: a name alone is no proof', () => {
  assert.deepEqual(
    changes([known(1), known(2)], [listed(1, { hostname: 'compute-2' }), listed(2, { hostname: 'compute-1' })]),
    [],
  )
})

test('a new uuid that someone has, that is none, or a name that is there twice: the host is down', () => {
  const again = (id: string) => listed(7, { id, hostname: 'compute-1' })
  for (const [all, taken] of [
    [[again(uuid(7))], [uuid(7)]],
    [[again('')], []],
    [[again('17')], []],
    [[again(uuid(7)), again(uuid(8))], []],
  ] as const) {
    const [change] = changes([known(1)], all, taken)
    assert.deepEqual([change?.uuid, change?.said.state], [null, 'down'])
  }
})
