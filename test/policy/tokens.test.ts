// Each API with real tokens: only one that holds opens it, to read and to write, and headers say nothing about who calls.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { Client } from '../support/client.ts'
import { eachIdentity, inProject } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { lease } from './routes.ts'
import { told } from './setting.ts'
import { type State, stateOf } from './state.ts'

const TOKEN_HOURS = 2

/** What an admin may do in each API: one that reads and one that writes. */
interface Pair {
  api: string
  read: string
  write?: [method: string, path: string, body: () => unknown]
}

eachIdentity(
  'tokens',
  ({ api, database }) => {
    const client = new Client('')
    after(() => client.close())
    const ask = (method: string, path: string, token: string | null, body?: unknown, headers = {}) => {
      client.origins = api.origins
      return client.request(method, path, body, { version: null, token, headers })
    }

    const pairs = async (token: string): Promise<Pair[]> => {
      const { user } = expectStatus(await api.validate(token), 200).body.token
      const own = `/identity/v3/users/${user.id}/application_credentials`
      const inventory = (total: number) => ({ total, max_unit: total })
      const host = async () => {
        const name = `host-${randomUUID()}`
        const headers = { 'openstack-api-version': 'placement 1.39' }
        const made = await ask('POST', '/placement/resource_providers', token, { name }, headers)
        const { uuid } = expectStatus(made, 200).body
        const inventories = { VCPU: inventory(8), MEMORY_MB: inventory(8), DISK_GB: inventory(8) }
        const given = { resource_provider_generation: 0, inventories }
        expectStatus(await ask('PUT', `/placement/resource_providers/${uuid}/inventories`, token, given, headers), 200)
        return name
      }
      const [leasable, watched] = [await host(), await host()]
      const flavor = () => ({ flavor: { name: randomUUID(), vcpus: 1, ram: 1, disk: 1 } })
      return [
        {
          api: 'placement',
          read: '/placement/resource_providers',
          write: ['POST', '/placement/resource_providers', () => ({ name: randomUUID() })],
        },
        {
          api: 'baremetal',
          read: '/baremetal/v1/nodes',
          write: ['POST', '/baremetal/v1/nodes', () => ({ driver: 'fake-hardware' })],
        },
        { api: 'compute', read: '/compute/v2.1/servers', write: ['POST', '/compute/v2.1/flavors', flavor] },
        { api: 'image', read: '/image/v2/images' },
        {
          api: 'reservation',
          read: '/reservation/v1/leases',
          write: ['POST', '/reservation/v1/os-hosts', () => ({ name: leasable })],
        },
        {
          api: 'identity',
          read: '/identity/v3/auth/projects',
          write: ['POST', own, () => ({ application_credential: { name: randomUUID() } })],
        },
        {
          api: 'operator',
          read: '/holdfast/v1/fsck',
          write: ['POST', '/holdfast/v1/hypervisor-state', () => ({ name: watched, state: 'down' })],
        },
      ]
    }

    async function unchanged(work: () => Promise<void>): Promise<void> {
      const state: State = await stateOf(database())
      try {
        const hash = await state.hash()
        await work()
        assert.equal(await state.hash(), hash, 'a refusal has changed something')
      } finally {
        await state.close()
      }
    }

    /** A token with which the door was open once, until its time was over. */
    async function ended(): Promise<string> {
      const token = await api.token('alice')
      assert.equal(await api.knock(token), 200)
      expectStatus(await ask('POST', '/holdfast/v1/clock', token, { advance: TOKEN_HOURS * 60 * 60 }), 200)
      return token
    }

    async function revoked(): Promise<string> {
      const token = await api.token('alice')
      assert.equal(await api.knock(token), 200)
      expectStatus(await api.del('/v3/auth/tokens', { token, headers: { 'x-subject-token': token } }), 204)
      return token
    }

    void test('one that is none, ended, revoked or tampered with opens no API; one that holds opens each', async () => {
      const past = await ended()
      const right = await api.token('alice')
      const all = await pairs(right)
      const [head, ...rest] = right.split('.')
      const wrong: Record<string, string | null> = {
        none: null,
        garbage: 'garbage',
        empty: '',
        'in the words of noauth2': 'admin:lab',
        'with one letter more': `${right}x`,
        'with another beginning': [`${head}x`, ...rest].join('.'),
        ended: past,
        revoked: await revoked(),
      }
      await unchanged(async () => {
        for (const { read, write } of all) {
          for (const [name, token] of Object.entries(wrong)) {
            assert.equal((await ask('GET', read, token)).status, 401, `${name}: GET ${read}`)
            if (!write) continue
            const [method, path, body] = write
            assert.equal((await ask(method, path, token, body())).status, 401, `${name}: ${method} ${path}`)
          }
        }
      })
      for (const { read, write } of all) {
        expectStatus(await ask('GET', read, right), 200)
        if (write) expectStatus(await ask(write[0], write[1], right, write[2]()), 200, 201)
      }
    })

    void test('headers that name roles, projects, users or a scope change nothing', async () => {
      const [admin, member] = [await api.token('alice'), await api.token('bob')]
      const all = await pairs(admin)
      const office = expectStatus(await api.logIn('alice', undefined, inProject('office')), 201)
      const elsewhere = office.headers['x-subject-token'] as string
      const { user, project } = office.body.token
      const [host] = all.filter(({ api: name }) => name === 'reservation').map(({ write }) => write!)
      expectStatus(await ask(host![0], host![1], admin, host![2]()), 201)
      const small = lease({
        reservations: [{ resource_type: 'virtual:instance', vcpus: 1, memory_mb: 1, disk_gb: 1, amount: 1 }],
      })
      const leased = expectStatus(await ask('POST', '/reservation/v1/leases', elsewhere, small), 201).body.lease
      const forged = {
        'x-roles': 'admin,service,member,reader',
        'x-role': 'admin',
        'x-project-id': project.id,
        'x-tenant-id': project.id,
        'x-user-id': user.id,
        'x-user-name': 'alice',
        'x-identity-status': 'Confirmed',
        'x-is-admin-project': 'True',
        'openstack-system-scope': 'all',
      }
      const reads = [
        ...all.map(({ read }) => read),
        `/reservation/v1/leases/${leased.id}`,
        `/compute/v2.1/flavors/${leased.reservations[0].id}`,
        '/compute/v2.1/servers?all_tenants=1',
        '/compute/v2.1/os-hypervisors',
        '/identity/v3/users',
        '/holdfast/v1/audit',
      ]
      await unchanged(async () => {
        for (const path of reads) {
          const plain = await ask('GET', path, member)
          assert.equal(told(await ask('GET', path, member, undefined, forged), path), told(plain, path), path)
          assert.equal((await ask('GET', path, null, undefined, forged)).status, 401, path)
        }
        for (const { write } of all) {
          if (!write) continue
          const [method, path, body] = write
          assert.equal((await ask(method, path, member, body(), forged)).status, 403, `${method} ${path}`)
          assert.equal((await ask(method, path, null, body(), forged)).status, 401, `${method} ${path}`)
        }
      })
      const statuses = await Promise.all(
        reads.slice(-6).map(async path => (await ask('GET', path, member, undefined, forged)).status),
      )
      assert.deepEqual(statuses, [404, 404, 403, 403, 403, 403])
    })
  },
  { placementPolicy: 'secure', tokenHours: TOKEN_HOURS, testClock: true },
)
