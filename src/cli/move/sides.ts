// The two sides of a move: where each is, as whom we log in there, and whether it is a Holdfast.
import type { Command } from 'commander'
import { logIn, type Where, whereIs } from '../../client/index.ts'
import { isRenewable, serviceIn, sessionOf } from '../../client/login.ts'
import { versionAt } from '../../client/operations.ts'
import { withoutApi } from '../../client/where.ts'
import { Api, type Session, Wire } from '../../client/wire.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { passwordAsker, trust } from '../client-command.ts'
import { connectOptionsOf, type ServerFlags } from '../server-flags.ts'

type SideName = 'from' | 'to'
type Service = 'placement' | 'reservation'

export interface SideFlags extends ServerFlags {
  from?: string
  fromCloud?: string
  to?: string
  toCloud?: string
}

export function withSides(command: Command, service: string): Command {
  return command
    .option('--from <url>', `the ${service} that has it (default: as the catalog of its cloud says)`)
    .option('--from-cloud <cloud>', 'its cloud in clouds.yaml (default: --os-cloud, or OS_…)')
    .option('--to <url>', `the ${service} that gets it (default: as the catalog of its cloud says)`)
    .option('--to-cloud <cloud>', 'its cloud in clouds.yaml (default: --os-cloud, or OS_…)')
}

/** A service that we are logged in at. */
export class Side {
  readonly name: SideName
  readonly url: string
  /** The id of our project there; null if no identity service was asked. */
  readonly project: string | null
  /** The APIs of the Holdfast that this is; null for another program. */
  readonly holdfast: Wire | null
  readonly #session: Session

  constructor(facts: Pick<Side, 'name' | 'url' | 'project' | 'holdfast'>, session: Session) {
    this.name = facts.name
    this.url = facts.url
    this.project = facts.project
    this.holdfast = facts.holdfast
    this.#session = session
  }

  api = (headers: Record<string, string> = {}) => new Api(this.url, headers, this.#session)
}

export async function openSides(service: Service, flags: SideFlags): Promise<{ from: Side; to: Side }> {
  const [from, to] = [await openSide('from', service, flags), await openSide('to', service, flags)]
  if (from.url === to.url) throw new UsageError(`both sides are ${from.url}`)
  return { from, to }
}

/** Logs in at one side. Its own cloud wins over the options for all clouds. */
export async function openSide(name: SideName, service: Service, flags: SideFlags): Promise<Side> {
  const [given, cloud] = [flags[name], flags[`${name}Cloud`]]
  if (given === undefined && cloud === undefined) {
    throw new UsageError(`say with --${name} or --${name}-cloud where the ${service} service is`)
  }
  const { env, said } = connectOptionsOf(flags)
  const where = whereIs({ url: given, env, ...(cloud === undefined ? { cloud: flags.osCloud, said } : { cloud }) })
  if (where.cacert !== null) trust(where.cacert)
  const enter = () => logIn(where, passwordAsker(), serviceIn(service))
  const login = await enter()
  const session = sessionOf(login, isRenewable(where) ? enter : null)
  const url = addressOf(given, where, login.url, service)
  const origin = withoutApi(url)
  const isHoldfast = (await versionAt(origin)) !== null
  return new Side(
    { name, url, project: login.project, holdfast: isHoldfast ? new Wire(origin, session) : null },
    session,
  )
}

const PATHS: Record<Service, string> = { placement: '/placement', reservation: '/reservation/v1' }

/** The address that was given, else that of a Holdfast in clouds.yaml, else that of the catalog. */
function addressOf(given: string | undefined, where: Where, found: string, service: Service): string {
  const address = given ?? (where.url === null ? found : `${where.url}${PATHS[service]}`)
  return address.replace(/\/+$/, '')
}
