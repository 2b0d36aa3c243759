// The Image API: the schemas that clients ask for, and refusals in a form that they can read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachCompute } from '../support/compute.ts'

eachCompute('images', api => {
  const ask = async (method: string, path: string) => {
    const answer = await fetch(`${api.origin}/image${path}`, { method, headers: { 'x-auth-token': 'admin' } })
    return { status: answer.status, body: (await answer.json()) as Record<string, Record<string, unknown>> }
  }

  test('every member of an image is in its schema, and the list has one too', async () => {
    const { body: image } = await ask('GET', '/v2/schemas/image')
    const { images } = (await ask('GET', '/v2/images')).body as unknown as { images: object[] }
    for (const name of Object.keys(images[0]!)) assert.ok(image['properties']![name], name)
    const { body: list } = await ask('GET', '/v2/schemas/images')
    assert.deepEqual((list['properties'] as { images: { items: object } }).images.items, image)
    for (const name of ['member', 'members']) assert.equal((await ask('GET', `/v2/schemas/${name}`)).status, 200)
  })

  test('a refusal is an object in an object, for every status', async () => {
    for (const [method, path, status, words] of [
      ['GET', '/v2/images/nothing', 404, /No image found with ID nothing/],
      ['GET', '/v2/schemas/nothing', 404, /could not be found/],
      ['GET', '/v2/nothing', 404, /could not be found/],
      ['POST', '/v2/images', 403, /name a Glance in the catalog/],
      ['PATCH', '/v2/images/x', 403, /can't be changed/],
      ['DELETE', '/v2/images/x', 403, /can't be changed/],
    ] as const) {
      const { status: got, body } = await ask(method, path)
      assert.equal(got, status, `${method} ${path}`)
      assert.deepEqual(Object.keys(body), ['error'])
      assert.equal(body['error']!['code'], status)
      assert.match(String(body['error']!['message']), words)
    }
  })
})
