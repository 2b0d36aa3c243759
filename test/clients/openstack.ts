// The real `openstack` command, where Debian's packages have brought it.
import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Why the command can't be used here, or false: the form that node:test wants for `skip`. */
export function missing(...packages: string[]): string | false {
  try {
    execFileSync('dpkg-query', ['--show', ...packages], { stdio: 'ignore' })
    return false
  } catch {
    return `needs the real clients: apt-get install --no-install-recommends ${packages.join(' ')}`
  }
}

/** Runs `openstack` against an endpoint without authentication and answers what it printed as JSON, or as text. */
export async function openstack(endpoint: string, ...args: string[]): Promise<unknown> {
  const env = { ...process.env, OS_AUTH_TYPE: 'none', OS_ENDPOINT: endpoint, OS_PLACEMENT_API_VERSION: '1.39' }
  const { stdout } = await run('/usr/bin/openstack', args, { env })
  return args.includes('json') ? JSON.parse(stdout) : stdout
}
