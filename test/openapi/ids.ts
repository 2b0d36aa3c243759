// The things that paths name, made for tests that call every path.
import { hostname } from 'node:os'
import { FIXTURE } from '../policy/routes.ts'
import { OWNERS, type Setting } from '../policy/setting.ts'
import { expectStatus } from '../support/placement.ts'

const TEMPLATE = { name: 'CUSTOM_TEMPLATE', steps: [{ interface: 'bios', step: 'x', args: {}, priority: 1 }] }

/** The ids that paths name; what isn't here is named by something that isn't there. */
export async function idsIn(setting: Setting) {
  const node = await setting.make('node', OWNERS['of its project'])
  const posted = async (path: string, body: object): Promise<string> =>
    expectStatus(await setting.things.metal.post(path, body), 201).body.uuid
  const own = OWNERS['of its project']
  const made: [string, string][] = [
    ['/baremetal/v1/nodes/', node],
    ['/baremetal/v1/ports/', await setting.make('port', own)],
    ['/baremetal/v1/portgroups/', await setting.make('portgroup', own)],
    ['/baremetal/v1/volume/connectors/', await setting.make('volume/connector', own)],
    ['/baremetal/v1/volume/targets/', await setting.make('volume/target', own)],
    ['/baremetal/v1/allocations/', await setting.make('allocation', own)],
    ['/baremetal/v1/reservations/', await setting.make('reservation', own)],
    ['/compute/v2.1/servers/', await setting.make('server', own)],
    ['/compute/v2.1/flavors/', await setting.make('flavor', own)],
    ['/reservation/v1/leases/', await setting.make('lease', own)],
    ['/baremetal/v1/chassis/', await posted('/v1/chassis', {})],
    ['/baremetal/v1/deploy_templates/', await posted('/v1/deploy_templates', TEMPLATE)],
    ['/holdfast/v1/webhooks/', await setting.make('webhook', own)],
    ['/placement/resource_providers/', await setting.things.metal.placement.provider({ VCPU: 8 })],
  ]
  const values: Record<string, string> = {
    key: FIXTURE.key,
    resource_class: 'VCPU',
    action: 'enable',
    consumer_uuid: node,
    hostname: hostname(),
  }
  const pathOf = (path: string): string => {
    const id = made.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'no-such-thing'
    return path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? id)
  }
  return { pathOf, node }
}

export const VERSIONS = {
  'x-openstack-ironic-api-version': '1.83',
  'openstack-api-version': 'placement 1.39',
  'x-openstack-nova-api-version': 'latest',
}
