// gophercloud as Debian has it, unpatched: see gophercloud/main.go for what it does.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withCatalog } from './catalog.ts'
import { missing } from './openstack.ts'

const PROGRAM = fileURLToPath(new URL('gophercloud/main.go', import.meta.url))
const run = promisify(execFile)

const EXPECTED = `project play
user me
service compute 3 RegionOne
node go available
driver fake-hardware
allocation mine active
provider 2 1 0
candidate 1
flavor from-go cirros
server 2 renamed SHUTOFF
hypervisor compute-1 4 8
zone nova-compute nova
usage 4 2
`

const skip = missing('golang-go', 'golang-github-gophercloud-gophercloud-dev')

void describe('gophercloud', { skip }, () => {
  const { api, env, folder } = withCatalog()

  void test('logs in, and goes through identity, bare metal, placement and compute', async () => {
    await api.hypervisor({}, 'compute-1')
    const binary = join(folder(), 'client')
    // Debian puts the sources of libraries where programs were built before there were modules.
    const go = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder(), 'cache'), GOFLAGS: '' }
    await run('go', ['build', '-o', binary, PROGRAM], { env: { ...process.env, ...go } })
    const { stdout } = await run(binary, { env: { ...env(), OS_DOMAIN_NAME: 'Default' } })
    assert.equal(stdout, EXPECTED)
  })
})
