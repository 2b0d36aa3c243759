// Images with the real clients: python-glanceclient, which Nova uses, `openstack` and openstacksdk.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withCatalog } from './catalog.ts'
import { missing, runClient } from './openstack.ts'

const skip = missing('python3-glanceclient', 'python3-openstackclient', 'python3-openstacksdk')

const SCRIPT = `
import json, os
from glanceclient import Client, exc
from keystoneauth1 import loading, session
e = os.environ
auth = loading.get_plugin_loader('password').load_from_options(auth_url=e['OS_AUTH_URL'], username='me', password='x',
    project_name='play', user_domain_name='Default', project_domain_name='Default')
glance = Client('2', session=session.Session(auth=auth))
def refused(act):
    try: act()
    except exc.HTTPException as error: return [error.code, str(error)]
images = list(glance.images.list())
one = glance.images.get(images[0].id)
import openstack
conn = openstack.connect()
def sdk(act):
    try: act()
    except openstack.exceptions.HttpException as error: return [error.status_code, str(error)]
print(json.dumps({
    'names': [i.name for i in images], 'one': one.disk_format,
    'formats': glance.schemas.get('image').raw()['properties']['disk_format']['enum'],
    'list': glance.schemas.get('images').name,
    'missing': refused(lambda: glance.images.get('4b5c9d2a-0000-4000-8000-000000000000')),
    'create': refused(lambda: glance.images.create(name='snap', disk_format='raw', container_format='bare')),
    'delete': refused(lambda: glance.images.delete(one.id)),
    'sdk': sdk(lambda: conn.image.get_image('4b5c9d2a-0000-4000-8000-000000000000')),
    'sdk_create': sdk(lambda: openstack.exceptions.raise_from_response(conn.image.post('/images', json={'name': 'x'}))),
}))
`

describe('images for the real clients', { skip }, () => {
  const { env } = withCatalog()

  test('python-glanceclient and openstacksdk show the image, and say why there are no others', async () => {
    const told = JSON.parse(await runClient('python', ['-c', SCRIPT], env())) as Record<string, [number, string]>
    assert.deepEqual([told['names'], told['one'], told['list']], [['cirros'], 'qcow2', 'images'])
    assert.ok((told['formats'] as unknown as string[]).includes('raw'))
    const words = /Images are not kept here/
    for (const [name, code, said] of [
      ['missing', 404, /No image found with ID 4b5c9d2a/],
      ['create', 403, words],
      ['delete', 403, words],
      ['sdk', 404, /No image found with ID 4b5c9d2a/],
      ['sdk_create', 403, words],
    ] as const) {
      assert.equal(told[name]![0], code, name)
      assert.match(told[name]![1], said, name)
    }
  })

  test('openstack image', async () => {
    const listed = JSON.parse(await runClient('openstack', ['image', 'list', '-f', 'json'], env())) as {
      Name: string
    }[]
    assert.deepEqual(
      listed.map(({ Name }) => Name),
      ['cirros'],
    )
    await assert.rejects(runClient('openstack', ['image', 'delete', 'cirros'], env()), /Images are not kept here/)
  })
})
