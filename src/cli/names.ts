// Completes arguments such as <node> and <lease> with names from the server.
import { setTimeout as sleep } from 'node:timers/promises'
import { cloudNames, type Holdfast, type Json } from '../client/index.ts'
import { withoutLinks } from './output.ts'
import { terminal } from './terminal.ts'

/** After this long the Tab key completes nothing. */
const WAIT_MAX_MS = 1_000

export interface Asker {
  /** The beginning of the word. */
  typed: string
  /** The first word of the command line. */
  noun: string
  connect: () => Promise<Holdfast>
}

type Lister = (server: Holdfast, asker: Asker) => Promise<readonly string[]>

/** By the name of the argument, in the singular. */
const LISTERS: Record<string, Lister> = {
  node: async ({ nodes }, { typed }) => namesOf(await nodes.list({ fields: ['name', 'uuid'] }), typed),
  'provision-state': async ({ nodes }) => {
    const found = await nodes.list({ fields: ['provision_state'] })
    return found.map(node => node.provision_state)
  },
  'resource-class': async ({ nodes }) => {
    const found = await nodes.list({ fields: ['resource_class'] })
    return found.flatMap(node => node.resource_class ?? [])
  },
  trait: async ({ traits }, { typed }) => {
    const used = await traits.list({ associated: true })
    return used.some(name => name.startsWith(typed)) ? used : traits.list()
  },
  allocation: async ({ allocations }, { typed }) =>
    namesOf(await allocations.list({ fields: ['name', 'uuid'] }), typed),
  reservation: async ({ reservations }) => (await reservations.list()).map(({ uuid }) => uuid),
  lease: async ({ leases }, { typed }) =>
    namesOf(
      (await leases.list()).map(({ id, name }) => ({ uuid: id, name })),
      typed,
    ),
  calendar: async ({ calendars }) => (await calendars.list()).map(({ id }) => id),
  host: async ({ hosts }) => (await hosts.list()).map(({ hypervisor_hostname }) => hypervisor_hostname),
  provider: async ({ providers }, { typed }) => namesOf(await providers.list(), typed),
  project: async ({ quotas }) => (await quotas.list()).map(({ project }) => project),
  'limit=max': async ({ quotas }) => (await quotas.show('default')).limits.map(({ name }) => `${name}=`),
  limit: async ({ quotas }) => (await quotas.list()).flatMap(({ limits }) => Object.keys(limits)),
  webhook: async ({ webhooks }, { typed }) =>
    namesOf(
      (await webhooks.list()).map(({ uuid, name }) => ({ uuid, name: name === '' ? null : name })),
      typed,
    ),
  'class=amount': async ({ resourceClasses }) => (await resourceClasses.list()).map(name => `${name}=`),
  field: fieldsOf,
  column: fieldsOf,
}

/** Lists one object of a kind, to learn the names of its fields. */
const FIRST: Record<string, (server: Holdfast) => Promise<Json[]>> = {
  node: ({ nodes }) => nodes.list({ where: { detail: true }, limit: 1 }),
  allocation: ({ allocations }) => allocations.list({ limit: 1 }),
  reservation: ({ reservations }) => reservations.list({}, 1),
  lease: ({ leases }) => leases.list(),
  host: ({ hosts }) => hosts.list(),
  provider: ({ providers }) => providers.list(),
  webhook: ({ webhooks }) => webhooks.list(),
  audit: ({ audit }) => audit({}, 1),
}

async function fieldsOf(server: Holdfast, { noun }: Asker): Promise<string[]> {
  const [first] = (await FIRST[noun]?.(server)) ?? []
  return Object.keys(withoutLinks(first ?? {}))
}

/** Names, unless none begins with the typed text: then uuids. */
function namesOf(things: readonly { name: string | null; uuid: string }[], typed: string): string[] {
  const isBegun = typed !== '' && things.every(({ name }) => !name?.startsWith(typed))
  return things.map(({ name, uuid }) => (isBegun ? uuid : (name ?? uuid)))
}

/** The completions for an argument; none if it isn't the name of something. */
export async function namesFor(argument: string, asker: Asker): Promise<readonly string[]> {
  if (argument === 'cloud') return cloudNames(terminal().env)
  const lister = LISTERS[argument] ?? LISTERS[argument.replace(/s$/, '')]
  if (!lister) return []
  const listed = async () => lister(await asker.connect(), asker)
  const late = sleep(WAIT_MAX_MS, [])
  return [...new Set(await Promise.race([listed(), late]))].toSorted()
}
