// The catalog as lists: services, endpoints and regions, from the same facts as the catalog of a token.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachIdentity, inProject } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'

interface Item {
  id: string
  name: string
  type: string
  service_id: string
  interface: string
  region: string
  url: string
}

eachIdentity(
  'services',
  ({ api }) => {
    const list = async (path: string, who = 'alice'): Promise<Item[]> => {
      const { body } = expectStatus(
        await api.get(`/v3/${path}`, { token: await api.token(who, inProject('lab')) }),
        200,
      )
      return body[/^\w+/.exec(path)![0]]
    }

    test('services and endpoints say what the catalog of a token says', async () => {
      const { catalog } = expectStatus(await api.logIn('alice', undefined, inProject('lab')), 201).body.token
      const [services, endpoints] = [await list('services'), await list('endpoints')]
      const told = services.map(({ id, name, type }) => ({
        id,
        type,
        name,
        endpoints: endpoints
          .filter(({ service_id }) => service_id === id)
          .map(({ id, interface: reach, region, url }) => ({ id, interface: reach, region, region_id: region, url })),
      }))
      assert.deepEqual(told, catalog)
    })

    test('each URL is that of an API here', async () => {
      for (const { url } of await list('endpoints?interface=public')) {
        assert.ok([200, 300, 401].includes((await fetch(url)).status), url)
      }
    })

    test('they are filtered, shown one by one, and 404 where there is none', async () => {
      const [compute] = await list('services?type=compute')
      assert.equal(compute!.name, 'nova')
      assert.deepEqual(await list('services?name=nova&type=image'), [])
      const [own] = await list(`endpoints?service_id=${compute!.id}&interface=admin&region_id=RegionOne`)
      assert.deepEqual([own!.service_id, own!.interface], [compute!.id, 'admin'])
      assert.deepEqual(await list('endpoints?region_id=elsewhere'), [])
      const [region] = await list('regions')
      assert.equal(region!.id, 'RegionOne')
      assert.deepEqual(await list('regions?parent_region_id=RegionOne'), [])
      const token = await api.token('alice')
      for (const [path, name, item] of [
        ['services', 'service', compute],
        ['endpoints', 'endpoint', own],
        ['regions', 'region', region],
      ] as const) {
        assert.deepEqual(expectStatus(await api.get(`/v3/${path}/${item!.id}`, { token }), 200).body[name], item)
        expectStatus(await api.get(`/v3/${path}/nothing`, { token }), 404)
        expectStatus(await api.post(`/v3/${path}`, {}, { token }), 405)
      }
    })

    test('members see regions, but neither services nor endpoints: their catalog says enough', async () => {
      const token = await api.token('bob')
      for (const [path, status] of [
        ['regions', 200],
        ['services', 403],
        ['endpoints', 403],
      ] as const) {
        expectStatus(await api.get(`/v3/${path}`, { token }), status)
        expectStatus(await api.get(`/v3/${path}`), 401)
      }
    })
  },
  {},
  ['sqlite'],
)
