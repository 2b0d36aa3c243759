// Logs in: gets a token from the identity service, or uses a token, HTTP Basic or nothing.
import { ApiError, ConnectionUnclear, LoginRefused } from './errors.ts'
import { type Credentials, type Reference, type Where, withoutApi } from './where.ts'
import { exchange, type Json, type Session } from './wire.ts'

export interface Login {
  /** Where Holdfast is. */
  url: string
  headers: Record<string, string>
  /** The ids of our user and project; null if no identity service was asked. */
  user: string | null
  project: string | null
  /** The names of both, with our roles. */
  who: Who | null
  /** What to say when the server takes us for nobody; undefined for its own words. */
  refusal?: string | undefined
}

export interface Who {
  user: string
  project: string | null
  roles: string[]
}

/** What a login needs to know. */
type Entrance = Pick<Where, 'url' | 'authUrl' | 'credentials' | 'region'>

type AskPassword = ((user: string) => Promise<string>) | undefined

/** Finds an address in the catalog of an identity service. */
type Finder = (catalog: readonly Service[], region: string | null) => string

export async function logIn(
  { url, authUrl, credentials, region }: Entrance,
  ask?: AskPassword,
  find: Finder = holdfastIn,
): Promise<Login> {
  const unknown = { user: null, project: null, who: null }
  if (credentials.kind === 'basic') {
    const { username } = credentials
    const password = credentials.password ?? (await asked(username, ask))
    const pair = btoa(String.fromCharCode(...new TextEncoder().encode(`${username}:${password}`)))
    const refusal = `name or password not accepted: ${username}`
    return { url: known(url), headers: { authorization: `Basic ${pair}` }, ...unknown, refusal }
  }
  if (credentials.kind === 'nobody') {
    const address = known(url)
    return { url: address, headers: {}, ...unknown, refusal: `${address} asks who you are, and nobody is said` }
  }
  if (credentials.kind === 'token' && url !== null) {
    const refusal = 'the token is not accepted: it has ended, or is of another server'
    return { url, headers: { 'x-auth-token': credentials.token }, ...unknown, refusal }
  }
  const identity = authUrl ?? `${url}/identity/v3`
  const proof = await proofOf(credentials, ask)
  const { answer, headers } = await granted(identity, proof).catch(async error => {
    const why = error instanceof ApiError && error.status === 401 ? await refused(identity, credentials, proof) : null
    throw why === null ? error : new LoginRefused(why, error as ApiError)
  })
  const token = headers.get('x-subject-token')
  if (token === null) throw new ConnectionUnclear(`${identity} gave no token; is it an identity service?`)
  const { token: facts } = answer as { token: Token }
  const { user, project, catalog } = facts
  return {
    url: url ?? find(catalog ?? [], region),
    headers: { 'x-auth-token': token },
    user: user?.id ?? null,
    project: project?.id ?? null,
    who: whoIn(facts),
  }
}

const granted = (identity: string, proof: Json) => exchange('POST', `${identity}/auth/tokens`, {}, proof)

/** How many projects are named to someone who named a wrong one. */
const PROJECTS_SHOWN = 10

/**
 * Why a login was refused. An identity service never tells which part is wrong, because strangers guess. Whoever gets in
 * without a project has proven who they are, and may hear which projects they have.
 */
async function refused(identity: string, credentials: Credentials, proof: Json): Promise<string | null> {
  if (credentials.kind === 'application credential') {
    return `application credential or secret not accepted: ${nameOf(credentials.credential)}`
  }
  if (credentials.kind !== 'password') return null
  const { user, project, isSystem } = credentials
  const name = nameOf(user)
  if (!isSystem && project === null) return `name or password not accepted: ${name}`
  const where = isSystem ? 'the system' : nameOf(project!)
  const theirs = await projectsOf(identity, proof).catch(() => null)
  if (theirs === null) return `name, password or project not accepted: ${name} in ${where}`
  const more = theirs.length > PROJECTS_SHOWN ? ` and ${theirs.length - PROJECTS_SHOWN} more` : ''
  const known =
    theirs.length > 0
      ? `${name}'s projects: ${theirs.slice(0, PROJECTS_SHOWN).join(', ')}${more}`
      : 'nor in any other project'
  return `${name} has no role in ${where}; ${known}`
}

/** The names of a user's projects, for the same proof without a project. */
async function projectsOf(identity: string, { auth }: Json): Promise<string[]> {
  const { headers } = await granted(identity, { auth: { ...(auth as Json), scope: 'unscoped' } })
  const token = { 'x-auth-token': headers.get('x-subject-token') ?? '' }
  const { answer } = await exchange('GET', `${identity}/auth/projects`, token)
  return (answer as { projects: { name: string }[] }).projects.map(({ name }) => name).toSorted()
}

/** The session of a login. `again` logs in once more when the token has ended; without it that is for the caller. */
export function sessionOf(login: Pick<Login, 'headers' | 'refusal'>, again: (() => Promise<Login>) | null): Session {
  let { headers } = login
  let underway: Promise<Login> | null = null
  return {
    refusal: login.refusal,
    get headers() {
      return headers
    },
    async renew(stale) {
      if (again === null) return false
      if (stale !== headers) return true
      // Requests that are refused at the same time share one login.
      underway ??= again().finally(() => (underway = null))
      headers = (await underway).headers
      return true
    },
  }
}

/** Whether another login gives other headers. A token that was given to us, or a password in each request, stays what it is. */
export const isRenewable = ({ credentials, url }: Where): boolean =>
  credentials.kind === 'password' ||
  credentials.kind === 'application credential' ||
  (credentials.kind === 'token' && url === null)

/** The owner of a token; null if the identity service doesn't tell. */
export async function bearerOf({ url, authUrl }: Where, token: string): Promise<Who | null> {
  const identity = authUrl ?? `${url}/identity/v3`
  const headers = { 'x-auth-token': token, 'x-subject-token': token }
  try {
    const { answer } = await exchange('GET', `${identity}/auth/tokens`, headers)
    return whoIn((answer as { token: Token }).token)
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

const whoIn = ({ user, project, roles = [] }: Token): Who | null =>
  user ? { user: user.name ?? user.id, project: project?.name ?? null, roles: roles.map(({ name }) => name) } : null

interface Token {
  user?: { id: string; name?: string }
  project?: { id: string; name?: string }
  roles?: { name: string }[]
  catalog?: Service[]
}
interface Service {
  type: string
  endpoints: { interface: string; region?: string; url: string }[]
}

const SIGN = /\/(baremetal|placement|reservation)(\/v1)?\/?$/

/** An endpoint of one of these services is Holdfast's if it has one of our paths. */
function holdfastIn(catalog: readonly Service[], region: string | null): string {
  for (const type of ['baremetal', 'placement', 'reservation']) {
    for (const service of catalog.filter(one => one.type === type)) {
      const reached = service.endpoints.find(
        one => one.interface === 'public' && (region === null || one.region === region) && SIGN.test(one.url),
      )
      if (reached) return withoutApi(reached.url)
    }
  }
  throw new ConnectionUnclear('the catalog of the identity service has no Holdfast; say with --url where it is')
}

/** Finds the public endpoint of a service, whoever provides it. */
export const serviceIn =
  (type: string): Finder =>
  (catalog, region) => {
    const endpoints = catalog.filter(one => one.type === type).flatMap(one => one.endpoints)
    const found = endpoints.find(one => one.interface === 'public' && (region === null || one.region === region))
    if (!found) throw new ConnectionUnclear(`the catalog of the identity service has no ${type} service`)
    return found.url
  }

function known(url: string | null): string {
  if (url !== null) return url
  throw new ConnectionUnclear(
    'there is an identity service but nobody to log in as; set OS_USERNAME and OS_PASSWORD, or say with --url where Holdfast is',
  )
}

async function asked(user: string, ask: AskPassword): Promise<string> {
  if (!ask) throw new ConnectionUnclear(`there is no password for ${user}; set OS_PASSWORD`)
  return ask(user)
}

async function proofOf(credentials: Credentials, ask: AskPassword): Promise<Json> {
  switch (credentials.kind) {
    case 'password': {
      const { user, project, isSystem } = credentials
      const password = credentials.password ?? (await asked(nameOf(user), ask))
      const scope = isSystem ? { system: { all: true } } : project ? { project } : null
      const identity = { methods: ['password'], password: { user: { ...user, password } } }
      return { auth: { identity, ...(scope && { scope }) } }
    }
    case 'application credential': {
      const { credential, user, secret } = credentials
      const given = { ...credential, ...(!('id' in credential) && user && { user }), secret }
      return { auth: { identity: { methods: ['application_credential'], application_credential: given } } }
    }
    case 'token':
      return { auth: { identity: { methods: ['token'], token: { id: credentials.token } } } }
    default:
      throw new ConnectionUnclear('there is nobody to log in as')
  }
}

const nameOf = (user: Reference) => ('id' in user ? user.id : user.name)
