// Notes: a line that people write about an allocation, for others to read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Baremetal, eachMetal, expectFault, NEWEST, newClass } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const OLDER = { version: '1.82' }

const notes = (api: Baremetal) => {
  const patched = (ident: string, value: unknown, options: object = NEWEST) =>
    api.patch(`/v1/allocations/${ident}`, [{ op: 'add', path: '/note', value }], options)
  const made = async (more: object = {}) => {
    const resource_class = newClass()
    await api.node({ resource_class }, 'available')
    return api.allocated({ resource_class, ...more })
  }

  void test('a note is given with the allocation, changed and taken away, and nothing else changes', async () => {
    const {
      updated_at: _,
      note,
      ...before
    } = await made({ note: 'the fan is loud', expires_at: '10h', extra: { a: 1 } })
    assert.equal(note, 'the fan is loud')
    for (const next of ['ask bob — he needs it till März', null]) {
      const { updated_at: __, note: now, ...after } = expectStatus(await patched(before.uuid, next), 200).body
      assert.deepEqual([now, after], [next, before])
    }
    expectStatus(await patched(before.uuid, 'again'), 200)
    expectStatus(await api.patch(`/v1/allocations/${before.uuid}`, [{ op: 'remove', path: '/note' }], NEWEST), 200)
    assert.equal((await api.allocation(before.uuid)).note, null)
  })

  void test('a note is one line of limited length, and a refused one changes nothing', async () => {
    const { uuid } = await made({ note: 'x'.repeat(300) })
    for (const bad of ['', 'x'.repeat(301), 'two\nlines', '\u001b[31mred', 'a\u2028b', 7, { a: 1 }]) {
      expectFault(await patched(uuid, bad), 400)
      expectFault(await api.post('/v1/allocations', { resource_class: 'gpu', note: bad }, NEWEST), 400)
    }
    assert.equal((await api.allocation(uuid)).note, 'x'.repeat(300))
  })

  void test('versions before 1.83 know no note', async () => {
    const { uuid } = await made({ note: 'new' })
    assert.equal('note' in (await api.allocation(uuid, OLDER)), false)
    expectFault(await patched(uuid, 'old', OLDER), 406)
    expectFault(await api.post('/v1/allocations', { resource_class: 'gpu', note: 'old' }, OLDER), 406)
    expectFault(await api.get('/v1/allocations?fields=note', OLDER), 406)
  })
}

eachMetal('notes', notes)
