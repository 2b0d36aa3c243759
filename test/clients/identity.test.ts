// The real `openstack` command and openstacksdk with one clouds.yaml, for our own users and for everyone.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Baremetal } from '../support/baremetal.ts'
import { Identity } from '../support/identity.ts'
import { runHoldfast, type Server, startServer } from '../support/server.ts'
import { missing, runClient } from './openstack.ts'

const skip = missing('python3-openstackclient', 'python3-osc-placement', 'python3-ironicclient', 'python3-openstacksdk')

/** A server, and the clients with a clouds.yaml that was made for it. */
function clientsOf(settings: object, cloudsFor: (folder: string, origin: string) => Promise<string>) {
  let folder = ''
  let server: Server
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-clouds-'))
    const file = join(folder, 'users.yaml')
    for (const [name, role] of [
      ['admin', 'admin'],
      ['bob', 'member'],
    ] as const) {
      const words = [
        'user',
        'add',
        name,
        '--users',
        file,
        '--project',
        'lab',
        '--role',
        role,
        '--password',
        `${name}-pw`,
      ]
      assert.equal((await runHoldfast(words).exit).code, 0)
    }
    server = await startServer(`sqlite:${join(folder, 'db')}`, { users: file, placementPolicy: 'secure', ...settings })
    writeFileSync(join(folder, 'clouds.yaml'), await cloudsFor(folder, server.origin))
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })
  const env = () => ({ ...process.env, OS_CLIENT_CONFIG_FILE: join(folder, 'clouds.yaml') })
  const openstack = async (words: string, cloud = 'holdfast') => {
    const args = ['--os-cloud', cloud, ...words.split(' '), '-f', 'json']
    return JSON.parse(await runClient('openstack', args, env()))
  }
  /** For commands that print nothing that could be read. */
  const runs = (words: string) => runClient('openstack', ['--os-cloud', 'holdfast', ...words.split(' ')], env())
  const python = async (script: string) => (await runClient('python', ['-c', script], env())).trim()
  return { openstack, runs, python, origin: () => server.origin }
}

const SDK = `
import openstack
conn = openstack.connect(cloud='holdfast')
node = conn.baremetal.create_node(driver='fake-hardware', name='sdk', resource_class='x')
print(conn.current_project.name, [n.name for n in conn.baremetal.nodes()], conn.identity.get_user(conn.current_user_id).name)
conn.baremetal.delete_node(node)
`

describe('clients of our own users', { skip }, () => {
  const made = async (name: string, folder: string, origin: string) => {
    const words = ['user', 'clouds-yaml', name, '--users', join(folder, 'users.yaml'), '--url', origin]
    const cloud = name === 'admin' ? 'holdfast' : name
    const { code, stdout, stderr } = await runHoldfast([...words, '--cloud', cloud, '--password', `${name}-pw`]).exit
    assert.equal(code, 0, stderr)
    return stdout
  }
  const { openstack, runs, python, origin } = clientsOf({ auth: 'password' }, async (folder, origin) => {
    const [admin, bob] = [await made('admin', folder, origin), await made('bob', folder, origin)]
    return admin + bob.replace('clouds:\n', '')
  })

  test('the openstack command issues a token, and lists catalog, projects and users', async () => {
    const token = await openstack('token issue')
    assert.match(token.id, /^[\w-]+\.[\w-]+$/)
    const api = new Identity(origin())
    assert.equal((await api.validate(token.id)).body.token.user.name, 'admin')
    api.close()
    const catalog = await openstack('catalog list')
    assert.deepEqual(catalog.map(({ Type }: { Type: string }) => Type).sort(), [
      'baremetal',
      'compute',
      'identity',
      'image',
      'placement',
      'reservation',
    ])
    const [lab] = await openstack('project list')
    assert.deepEqual([lab.Name, lab.ID], ['lab', token.project_id])
    const admin = await openstack('user show admin')
    assert.deepEqual([admin.id, admin.default_project_id], [token.user_id, lab.ID])
    assert.equal((await openstack('user show bob')).name, 'bob')
  })

  test('and works with providers and nodes', async () => {
    assert.deepEqual(await openstack('resource provider list'), [])
    const metal = new Baremetal(origin())
    const node = await openstack('baremetal node create --driver fake-hardware --name n1')
    const [listed] = await openstack('baremetal node list')
    assert.deepEqual([listed.Name, listed.UUID], ['n1', node.uuid])
    const [provider] = await openstack('resource provider list')
    assert.equal(provider.uuid, node.uuid)
    metal.close()
  })

  test('a member is one', async () => {
    assert.equal((await openstack('token issue', 'bob')).project_id, (await openstack('token issue')).project_id)
    for (const words of ['project list', 'project list --my-projects']) {
      const projects = await openstack(words, 'bob')
      assert.deepEqual([projects.length, projects[0].Name], [1, 'lab'])
    }
    assert.equal((await openstack('user show bob', 'bob')).name, 'bob')
    await assert.rejects(openstack('resource provider list', 'bob'), /403/)
    await assert.rejects(openstack('user list', 'bob'), /not authorized/)
  })

  test('projects, users and roles are made and taken away', async () => {
    const SCRIPT = `
import openstack
conn = openstack.connect(cloud='holdfast')
lab = conn.identity.create_project(name='optics', description='lenses')
user = conn.identity.create_user(name='zoe', password='zoe-pw', default_project_id=lab.id)
role = conn.identity.find_role('member')
conn.identity.assign_project_role_to_user(lab, user, role)
own = openstack.connect(auth=dict(auth_url='${origin()}/identity', username='zoe', password='zoe-pw', project_name='optics',
  user_domain_name='Default', project_domain_name='Default'), region_name='RegionOne')
print(own.current_project.name, conn.identity.validate_user_has_project_role(lab, user, role))
conn.identity.unassign_project_role_from_user(lab, user, role)
conn.identity.update_project(lab, description='glass')
conn.identity.delete_user(user)
conn.identity.delete_project(lab)
print([p.name for p in conn.identity.projects()])
`
    assert.equal(await python(SCRIPT), "optics True\n['lab']")
    await openstack('project create --description lenses optics')
    await runs('user create --project optics --password zoe-pw zoe')
    await runs('role add --project optics --user zoe member')
    await assert.rejects(runs('project delete lab'), /Nobody would be admin|still has/)
    for (const words of ['user delete zoe', 'project delete optics']) await runs(words)
  })

  test('openstacksdk connects', async () => {
    assert.equal(await python(SDK), "lab ['n1', 'sdk'] admin")
  })

  test('an application credential is made, gets in, and is taken back', async () => {
    const { id, secret } = await openstack('application credential create script')
    const script = `
import openstack, sys
conn = openstack.connect(auth_type='v3applicationcredential', region_name='RegionOne',
  auth=dict(auth_url='${origin()}/identity', application_credential_id='${id}', application_credential_secret='${secret}'))
print(conn.identity.get_project(conn.current_project_id).name, [n.name for n in conn.baremetal.nodes()])
`
    assert.equal(await python(script), "lab ['n1']")
    await python(
      `import openstack; c = openstack.connect(auth_type='v3password', region_name='RegionOne', auth=dict(auth_url='${origin()}/identity/v3', username='admin', password='admin-pw', project_name='lab', user_domain_id='default', project_domain_id='default')); c.identity.delete_application_credential(c.current_user_id, '${id}')`,
    )
    await assert.rejects(python(script), /401/)
  })
})

describe('clients of everyone', { skip }, () => {
  const { openstack, python } = clientsOf(
    { auth: 'none' },
    async (_folder, origin) => `clouds:
  holdfast:
    auth:
      auth_url: ${origin}/identity
      username: anyone
      password: anything
      project_name: play
      user_domain_name: Default
      project_domain_name: Default
    region_name: RegionOne
`,
  )

  test('the same commands work without users', async () => {
    const token = await openstack('token issue')
    const [project] = await openstack('project list')
    assert.deepEqual([project.Name, project.ID], ['play', token.project_id])
    assert.equal((await openstack('user show anyone')).id, token.user_id)
    assert.equal((await openstack('catalog list')).length, 6)
    assert.deepEqual(await openstack('resource provider list'), [])
    assert.deepEqual(await openstack('baremetal node list'), [])
    assert.equal(await python(SDK), "play ['sdk'] anyone")
  })
})

describe('a catalog with services of others', { skip }, () => {
  const catalog = {
    image: 'hidden',
    network: { name: 'neutron', url: 'http://controller:9696' },
    volumev3: { name: 'cinderv3', url: 'http://controller:8776/v3/$(project_id)s' },
    placement: { regions: { RegionTwo: 'https://two.example/placement' } },
  }
  const clouds = async (folder: string, origin: string) =>
    (
      await runHoldfast([
        'user',
        'clouds-yaml',
        'admin',
        '--users',
        join(folder, 'users.yaml'),
        '--url',
        origin,
        '--password',
        'admin-pw',
      ]).exit
    ).stdout
  const settings = { auth: 'password', compute: 'nova', novaUrl: 'http://controller:8774/v2.1', catalog }
  const { openstack } = clientsOf(settings, clouds)

  test('openstack catalog, service, endpoint and region list say the same', async () => {
    const listed = (await openstack('catalog list')) as { Type: string; Endpoints: { region: string; url: string }[] }[]
    const urls = new Map(listed.map(({ Type, Endpoints }) => [Type, Endpoints.map(({ url }) => url)]))
    assert.deepEqual([...urls.keys()].toSorted(), [
      'baremetal',
      'compute',
      'identity',
      'network',
      'placement',
      'reservation',
      'volumev3',
    ])
    assert.equal(urls.get('compute')![0], 'http://controller:8774/v2.1')
    assert.match(urls.get('volumev3')![0]!, /^http:\/\/controller:8776\/v3\/[0-9a-f]{32}$/)
    assert.ok(urls.get('placement')!.includes('https://two.example/placement'))
    const services = (await openstack('service list')) as { Type: string }[]
    assert.deepEqual(services.map(({ Type }) => Type).toSorted(), [...urls.keys()].toSorted())
    const endpoints = (await openstack('endpoint list')) as { 'Service Type': string; URL: string }[]
    assert.equal(endpoints.length, [...urls.values()].flat().length)
    const cinder = endpoints.find(endpoint => endpoint['Service Type'] === 'volumev3')!
    assert.equal(cinder.URL, 'http://controller:8776/v3/$(project_id)s')
    const regions = (await openstack('region list')) as { Region: string }[]
    assert.deepEqual(regions.map(({ Region }) => Region).toSorted(), ['RegionOne', 'RegionTwo'])
  })
})
