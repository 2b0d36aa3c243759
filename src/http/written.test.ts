// Answers as JSON: the same text, whether it is written at once or in pieces, and no piece is larger than it may be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText, MEMBERS, StoredJson } from '../shared/json.ts'
import { limits } from '../shared/limits.ts'
import { keyed, listed, Long, readInParts, written } from './written.ts'

async function piecesOf(body: object): Promise<Buffer[]> {
  const answer = written(body)
  return typeof answer === 'string' ? [Buffer.from(answer)] : piecesIn(answer)
}

async function piecesIn(answer: Long): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  for (let next = await answer.next(); next !== null; next = await answer.next()) pieces.push(...next)
  return pieces
}
const read = async (body: object): Promise<unknown> => JSON.parse(Buffer.concat(await piecesOf(body)).toString())

const LENGTHS = [0, 1, 2, 1_000, 50_000]

test('a list is the same in one piece and in many, whatever it is made of', async () => {
  for (const length of LENGTHS) {
    const items = Array.from({ length }, (_, i) => i)
    const show = (i: number) => ({
      name: `Größe "${i}"`,
      none: undefined,
      extra: new StoredJson(jsonText({ i }), MEMBERS),
    })
    const plain = items.map(i => ({ name: `Größe "${i}"`, extra: { i } }))
    const parts = [items.slice(0, 7), Promise.resolve(items.slice(7))]
    for (const things of [listed(items, show), items.map(show), readInParts(0, parts, show)]) {
      assert.deepEqual(await read({ before: [1, null, 'x'], things, next: undefined, after: 7 }), {
        before: [1, null, 'x'],
        things: plain,
        after: 7,
      })
    }
    const keys = Object.fromEntries(items.map(i => [`"Größe" ${i}`, { i }]))
    assert.deepEqual(await read({ things: keyed(items, i => [`"Größe" ${i}`, { i }]), generation: 1 }), {
      things: keys,
      generation: 1,
    })
  }
})

test('other bodies are what JSON.stringify makes of them', async () => {
  for (const body of [{}, [], [1, 'a', null, { b: [] }], { a: { b: [1, 2] }, at: new Date(0), c: [[1], [2]] }]) {
    assert.deepEqual(await read(body), JSON.parse(JSON.stringify(body)))
  }
})

test('no piece is larger than a piece, and a row is shown only when those before it are written', async () => {
  const large = new StoredJson(jsonText({ blob: 'x'.repeat(limits.answerPieceBytes * 2.5) }), MEMBERS)
  let shown = 0
  const body = { rows: listed(Array.from({ length: 20 }), () => (shown++, { extra: large })) }
  const answer = written(body)
  assert.ok(answer instanceof Long)
  assert.equal(shown, 1)
  for (let made = 1; ; made++) {
    const next: Buffer[] | null = await answer.next()
    if (next === null) break
    assert.ok(next.every(piece => piece.length <= limits.answerPieceBytes))
    assert.ok(shown <= made, `${shown} rows are shown after ${made} turns`)
  }
  assert.equal(shown, 20)
})

test('what is surely long is not begun before someone asks for it', async () => {
  let isAsked = false
  function* parts() {
    isAsked = true
    yield Promise.resolve([1])
  }
  const answer = written({ rows: readInParts(limits.answerPieceBytes + 1, parts(), i => ({ i })) })
  assert.ok(answer instanceof Long)
  assert.deepEqual([isAsked, answer.bytes], [false, limits.answerPieceBytes + 1])
  assert.equal(Buffer.concat(await piecesIn(answer)).toString(), '{"rows":[{"i":1}]}')
})

test('a part that can not be read fails the answer', async () => {
  const parts = [[1], Promise.reject(new Error('the disk is gone'))]
  const answer = written({ rows: readInParts(0, parts, i => ({ i })) })
  assert.ok(answer instanceof Long)
  await assert.rejects(piecesIn(answer), /the disk is gone/)
})
