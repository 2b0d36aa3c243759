// Names of what the server has: completes arguments such as <node> and <lease>, and turns names of users and projects
// into ids and back.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, cloudNames, type Holdfast, type Json } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { type OutputFlags, type Row, withoutLinks } from './output.ts'
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
  driver: async ({ conductors }) => (await conductors.drivers()).map(({ name }) => name),
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
  project: projectNames,
  owner: projectNames,
  lessee: projectNames,
  user: async ({ names }) => (await names.all()).users.map(({ name }) => name),
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

async function projectNames({ names }: Holdfast): Promise<string[]> {
  return (await names.all()).projects.map(({ name }) => name)
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

type PersonKind = 'user' | 'project'

/** The id of the user or project with this name or id; refuses what isn't there. Nothing is said of nothing. */
export async function idOf(server: Holdfast, kind: PersonKind, word: string): Promise<string>
export async function idOf(server: Holdfast, kind: PersonKind, word: string | undefined): Promise<string | undefined>
export async function idOf(server: Holdfast, kind: PersonKind, word: string | undefined): Promise<string | undefined> {
  if (word === undefined) return undefined
  if (word === '') throw new UsageError(`a ${kind} has a name`)
  return server[`${kind}s`].resolve(word)
}

const ID = /^(?:[0-9a-f]{32}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** The same to look for something: there may be things of a user or project that is gone. */
export async function soughtId(
  server: Holdfast,
  kind: PersonKind,
  word: string | undefined,
): Promise<string | undefined> {
  if (word === undefined || word === '') return idOf(server, kind, word)
  try {
    return await server.names.resolve(kind, word, { gone: true })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && ID.test(word)) return word
    throw error
  }
}

/** Refuses the name of an object that isn't there. */
export async function requireObject(server: Holdfast, word: string): Promise<void> {
  if (!(await isObject(server, word))) throw new CommandFailure(EXIT.notFound, `there is nothing called ${word}`)
}

/** Whether something is called so. An id may be of something that is gone, or of any kind. */
export async function isObject(server: Holdfast, word: string): Promise<boolean> {
  const id = word.slice(word.indexOf('/') + 1)
  if (ID.test(id)) return true
  const isThere = async (look: Promise<unknown>) => {
    try {
      return Boolean(await look)
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
  }
  const looks = [
    server.nodes.show(id, ['uuid']),
    server.allocations.show(id, ['uuid']),
    server.leases.list().then(leases => leases.some(lease => lease.id === id || lease.name === id)),
    server.providers.list({ name: id }).then(found => found.length > 0),
    server.webhooks.show(id),
  ]
  return (await Promise.all(looks.map(isThere))).includes(true)
}

/** The names of these users and projects; without the right to know them, or on an older server, none. */
export async function namesIn(server: Holdfast, ids: Iterable<string>) {
  try {
    return await server.names.of(ids)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { users: new Map<string, string>(), projects: new Map<string, string>() }
  }
}

/**
 * Rows with names in these fields instead of ids, for people. In JSON and YAML the ids stay, and the names are beside
 * them: `owner_name`. One request for all.
 */
export async function withNames<T extends Row>(
  server: Holdfast,
  rows: readonly T[],
  fields: Readonly<Record<string, PersonKind>>,
  { format }: OutputFlags,
): Promise<readonly Row[]> {
  if (format === 'csv' || format === 'value') return rows
  const cells = rows.flatMap(row => Object.keys(fields).map(field => row[field]))
  const ids = cells.filter(value => typeof value === 'string')
  if (ids.length === 0) return rows
  const { users, projects } = await namesIn(server, ids)
  return rows.map(row => {
    const named = Object.entries(fields).flatMap(([field, kind]) => {
      const name = (kind === 'user' ? users : projects).get(row[field] as string)
      return name === undefined ? [] : [[format === 'table' ? field : `${field}_name`, name]]
    })
    return { ...row, ...Object.fromEntries(named) }
  })
}
