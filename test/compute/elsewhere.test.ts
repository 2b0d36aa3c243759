// Where the servers are those of a Nova, or where there are none: our own compute says so and does nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../support/client.ts'
import { Compute, expectFault } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

// Nobody listens there.
const novaUrl = 'http://127.0.0.1:9/v2.1'
const NOVA = { compute: 'nova', novaUrl } as const
const PATHS = [
  ['GET', '/servers'],
  ['GET', '/servers/detail?all_tenants=1'],
  ['POST', '/servers'],
  ['DELETE', `/servers/${crypto.randomUUID()}`],
  ['POST', `/servers/${crypto.randomUUID()}/action`],
  ['GET', '/flavors'],
  ['POST', '/flavors'],
  ['GET', '/os-hypervisors'],
  ['GET', '/os-hypervisors/statistics'],
  ['GET', '/os-services'],
  ['PUT', '/os-services/disable'],
  ['GET', '/os-hosts'],
  ['GET', '/os-quota-sets/p'],
  ['GET', '/limits'],
  ['GET', '/nothing/that/we/know'],
  ['PURGE', '/servers'],
] as const

eachDatabase('compute elsewhere', ({ create }) => {
  async function served(settings: object, body: (api: Compute) => Promise<void>, database?: string): Promise<void> {
    let server: Server | null = null
    const api = new Compute()
    try {
      server = await startServer(database ?? (await create()), settings)
      api.reach([server.origin])
      await body(api)
      await api.fsck()
    } finally {
      api.close()
      await server?.stop()
    }
  }

  for (const [word, settings, pattern] of [
    ['nova', NOVA, /those of the Nova at http:\/\/127\.0\.0\.1:9\/v2\.1\.$/],
    ['off', { compute: 'off' }, /^Compute is off here/],
  ] as const) {
    void test(`with ${word} every path says where compute is, with and without a token`, () =>
      served(settings, async api => {
        for (const [method, path] of PATHS) {
          for (const token of ['admin', null]) {
            const answer = expectFault(await api.request(method, path, undefined, { token }), 404, pattern)
            assert.deepEqual(Object.keys(answer.body), ['itemNotFound'], path)
          }
        }
      }))
  }

  void test('the version documents lead to the Nova, and list nothing when compute is off', async () => {
    const get = async (api: Compute, path: string) => fetch(`${api.origins[0]}/compute${path}`)
    await served(NOVA, async api => {
      for (const path of ['', '/', '/v2.1', '/v2.1/']) {
        const body = (await (await get(api, path)).json()) as Record<string, object>
        const [version] = [body['version'] ?? body['versions']!].flat() as [{ version: string; links: object[] }]
        assert.deepEqual(version.links, [{ rel: 'self', href: `${novaUrl}/` }], path)
        assert.equal(version.version, '')
      }
    })
    const catalog = { compute: { public: 'https://cloud.example/compute/v2.1', admin: 'hidden' } }
    await served({ ...NOVA, catalog }, async api => {
      const { version } = (await (await get(api, '/v2.1')).json()) as { version: { links: object[] } }
      assert.deepEqual(version.links, [{ rel: 'self', href: 'https://cloud.example/compute/v2.1/' }])
      expectFault(await api.get('/servers'), 404, /the Nova at https:\/\/cloud\.example\/compute\/v2\.1\.$/)
    })
    await served({ compute: 'off' }, async api => {
      assert.deepEqual(await (await get(api, '/')).json(), { versions: [] })
      assert.equal((await get(api, '/v2.1')).status, 404)
    })
  })

  void test('hosts are still on the board, and what our own compute had before is left as it was', async () => {
    const database = await create()
    // Our own compute would confirm the resize when its time is over.
    const clock = { testClock: true, resizeConfirmMinutes: 1 }
    let id = ''
    const hosts: string[] = []
    await served(
      clock,
      async api => {
        hosts.push(await api.hypervisor({}, 'host-1'), await api.hypervisor({}, 'host-2'))
        const [small, large] = [await api.flavor(), await api.flavor({ vcpus: 2 })]
        id = (await api.server(small)).id
        expectStatus(await api.action(id, 'resize', { flavorRef: large }), 202)
        await api.untilStatus(id, 'VERIFY_RESIZE')
      },
      database,
    )
    await served(
      { ...clock, ...NOVA },
      async api => {
        const operator = new Client('/holdfast/v1', ...api.origins)
        expectStatus(await operator.post('/clock', { advance: 3600 }), 200)
        expectFault(await api.get(`/servers/${id}`), 404, /Nova at/)
        expectStatus(await api.placement.del(`/allocations/${id}`), 409)
        const used = await Promise.all(hosts.map(async host => (await api.usages(host))['VCPU']!))
        assert.equal(used[0]! + used[1]!, 3, 'server and move keep their claims')
        const { body } = expectStatus(await operator.get('/status'), 200)
        assert.deepEqual(body.hosts.map(({ name }: { name: string }) => name).toSorted(), hosts)
        operator.close()
      },
      database,
    )
    await served(clock, async api => void (await api.untilStatus(id, 'ACTIVE')), database)
  })
})
