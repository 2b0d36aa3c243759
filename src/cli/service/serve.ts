// holdfast serve, holdfast api
import type { Config } from '../../config/config.ts'
import { mask } from '../../config/mask.ts'
import { limits } from '../../shared/limits.ts'
import { startApi } from '../../process/serve.ts'
import { terminal } from '../terminal.ts'

export async function serve(config: Config, role: 'serve' | 'api'): Promise<number> {
  // Listens before the welcome is printed: its reader may send a signal at once.
  const told = new Promise<string>(resolve => {
    terminal().once('SIGTERM', resolve)
    terminal().once('SIGINT', resolve)
  })
  const api = await startApi(config, role)
  terminal().stdout.write(welcome(api.address, config))
  const signal = await told
  terminal().stdout.write(`\nholdfast: ${signal}: finishing what is under way\n`)
  await api.stop()
  setTimeout(() => terminal().exit(0), limits.exitMsMax).unref()
  return 0
}

const WAYS_IN: Record<Config['auth'], string> = {
  none: '',
  noauth2: " -H 'x-auth-token: admin'",
  password: ' -u YOUR_NAME',
  keystone: ' -H "x-auth-token: $TOKEN"',
}

function welcome(address: string, { database, auth, ui }: Config): string {
  const token = WAYS_IN[auth]
  return [
    `Holdfast is listening at ${address}`,
    `  database  ${mask(database)}`,
    `  auth      ${auth}`,
    ...(ui === 'on' ? [`  dashboard ${address}/ui/`] : []),
    '',
    'Try:',
    `  curl -s${token} ${address}/placement/`,
    `  curl -s${token} -H 'openstack-api-version: placement latest' -H 'content-type: application/json' \\`,
    `    -d '{"name": "first-machine"}' ${address}/placement/resource_providers`,
    `  curl -s${token} ${address}/placement/resource_providers`,
    `  curl -s${token} -H 'x-openstack-ironic-api-version: latest' -H 'content-type: application/json' \\`,
    `    -d '{"driver": "fake-hardware"}' ${address}/baremetal/v1/nodes`,
    '',
    '',
  ].join('\n')
}
