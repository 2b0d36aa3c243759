// A project that stores all it may and lists it again and again: its answers are bounded in memory and on the event loop,
// and all others are served between their pieces.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { largeAnswers } from '../../src/http/pieces.ts'
import { limits } from '../../src/shared/limits.ts'
import { eachMetal, uuid } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import { expectStatus } from '../support/placement.ts'

const ROW_BYTES = 250_000
const ROWS = 40
const LISTS = 8

eachMetal('large answers', api => {
  const member = as('member', 'lab')
  const quiet = as('member', 'quiet')
  const names = Array.from({ length: ROWS }, (_, i) => `large-${i}`)

  before(async () => {
    const extra = { blob: 'x'.repeat(ROW_BYTES) }
    for (const name of names) {
      expectStatus(await api.post('/v1/allocations', { name, resource_class: 'nobody-has', extra }, member), 201)
    }
  })

  void test('a page ends early with a link to the next, and all pages have all', async () => {
    const found: string[] = []
    let path = '/v1/allocations?sort_key=created_at'
    let pages = 0
    for (; path; pages++) {
      const { body } = expectStatus(await api.get(path, member), 200)
      assert.ok(JSON.stringify(body).length <= limits.answerPageBytesMax)
      found.push(...body.allocations.map(({ name }: { name: string }) => name))
      path = body.next?.slice(body.next.indexOf('/v1/')) ?? ''
    }
    assert.deepEqual(found, names)
    assert.ok(pages > 1)
  })

  void test('many such lists at once are made piece by piece, and others are answered between them', async () => {
    const lists = { areOver: false }
    let [mostHeld, mostMade, last] = [0, 0, largeAnswers.made]
    const watch = () => {
      mostHeld = Math.max(mostHeld, largeAnswers.bytes)
      mostMade = Math.max(mostMade, largeAnswers.made - last)
      last = largeAnswers.made
      if (!lists.areOver) setImmediate(watch)
    }
    watch()
    let answered = 0
    const others = async () => {
      while (!lists.areOver) {
        expectStatus(await api.get('/v1/allocations', quiet), 200)
        answered++
      }
    }
    const served = others()
    const before = answered
    const asked = Array.from({ length: LISTS }, () => api.get('/v1/allocations', member))
    await Promise.race(asked)
    const between = answered - before
    for (const answer of await Promise.all(asked)) expectStatus(answer, 200)
    lists.areOver = true
    await served
    assert.ok(between >= LISTS, `${between} answers for others before the first list was sent`)
    assert.ok(mostHeld <= LISTS * limits.answerPageBytesMax, `${mostHeld} bytes were held`)
    // A row may begin just before a piece is full.
    assert.ok(mostMade <= 2 * (limits.answerPieceBytes + ROW_BYTES + limits.rowBytesBesides), `${mostMade} in one turn`)
    while (largeAnswers.bytes > 0) await new Promise(resolve => setImmediate(resolve))
  })

  void test('one large row is sent in pieces too', async () => {
    const { body } = expectStatus(await api.get(`/v1/allocations/${names[0]}`, member), 200)
    assert.equal(body.extra.blob.length, ROW_BYTES)
    expectStatus(await api.get(`/v1/allocations/${uuid()}`, member), 404)
  })
})
