import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Told, toldIn } from './event-lines.ts'

async function told(...chunks: string[]): Promise<Told[]> {
  const all: Told[] = []
  const source = (async function* () {
    yield* chunks
  })()
  for await (const one of toldIn(source)) all.push(one)
  return all
}

const STREAM = 'retry: 10\nid: 1\n\n: still here\nid: 2\n\nid: 3\nevent: a.b\ndata: {"x":\ndata: 1}\n\ndata:half'

void test('a stream is read the same however it is cut, and whatever ends its lines', async () => {
  const expected: Told[] = [
    { id: '1', type: '', data: null },
    { id: '2', type: '', data: null },
    { id: '3', type: 'a.b', data: '{"x":\n1}' },
  ]
  for (const end of ['\n', '\r\n', '\r']) {
    const text = STREAM.replaceAll('\n', end)
    assert.deepEqual(await told(text), expected)
    assert.deepEqual(await told(...text.split('')), expected)
  }
})

void test('an id stays until there is another', async () => {
  assert.deepEqual(await told('id: 7\ndata: a\n\ndata: b\n\n'), [
    { id: '7', type: '', data: 'a' },
    { id: '7', type: '', data: 'b' },
  ])
})
