// Checks the Nova beside the service: whether it answers, speaks what we speak, knows our role, and what it isn't told yet.
import { quoted } from '../../shared/shell.ts'
import { ApiError, type Holdfast, type NovaHealth } from '../../client/index.ts'
import { type Finding, ok, unknown, warning, wrong } from './examine.ts'

/** Extra specs are in its flavors from here on. */
const VERSION_MIN = [2, 61] as const

export async function lookAtNova(server: Holdfast): Promise<Finding> {
  try {
    return judgeNova(await server.nova())
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return unknown('an older server, which knows no Nova')
    throw error
  }
}

export function judgeNova(nova: NovaHealth | null): Finding {
  if (!nova) return ok('none is beside this service (--compute nova)')
  const { url, version, problem, hypervisors, due, failing, troubles } = nova
  // First: an old one refuses our version in whatever else it is asked.
  if (version !== null && !isNewEnough(version)) {
    const least = VERSION_MIN.join('.')
    return wrong(`${url} speaks ${version} at most`, `leases need ${least}: a Nova from Rocky (2018) on`)
  }
  if (problem !== null) return wrong(problem, cureOf(problem))
  if (version === null) return wrong(`what answers at ${url} does not say its version`, ADDRESS)
  const found = `${url} speaks ${version} and shows ${counted(hypervisors ?? 0, 'host')}`
  if (due === 0) return ok(`${found}; it has all that leases need`)
  const told = `${found}; it is yet to be told of ${counted(due, 'reservation')}`
  const [first] = troubles
  if (failing === 0 || !first) return ok(told)
  return warning(`${told}, and ${failing} of them fail: ${first.reason}`, `holdfast lease show ${quoted(first.lease)}`)
}

const ADDRESS = 'is it running? --nova-url says where it is, such as http://controller:8774/v2.1'

function cureOf(problem: string): string {
  if (problem.includes(' 403 ')) return 'give our user there the role admin (with --auth keystone: --keystone-username)'
  if (problem.includes('refuses our token')) {
    return 'does it ask the Identity that we use? See [keystone_authtoken] in its nova.conf'
  }
  return ADDRESS
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

function isNewEnough(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major! > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor! >= VERSION_MIN[1])
}
