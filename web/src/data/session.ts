// Who is at this browser. The token is kept for this tab alone: not in addresses, cookies or anything that other tabs see.
import { createEffect, createMemo, createRoot, createSignal, on } from 'solid-js'
import { holdfastAt, type Holdfast } from '../../../src/client/index.ts'
import { type Login, logIn } from '../../../src/client/login.ts'
import type { Credentials } from '../../../src/client/where.ts'
import { words } from '../words.ts'

/** What the server says of itself to someone it doesn't know yet. */
interface Config {
  name: string
  version: string
  /** How people log in: not at all, with this server, or with Keystone. `noauth2` is for tests of programs. */
  identity: 'none' | 'noauth2' | 'password' | 'keystone'
}

/** The server passes it on to Keystone where that keeps the users. */
export const IDENTITY = '/ui/identity/v3'
const KEPT = 'holdfast-login'
/** The tokens that this tab had before, such as those of other projects: they end with the login. */
const FORMER = 'holdfast-former'
const NOBODY: Omit<Login, 'url'> = { headers: {}, user: null, project: null, who: null }

const [config, setConfig] = createSignal<Config | null>(null)
const [login, setLogin] = createSignal<Login | null>(null)
const [hasEnded, setHasEnded] = createSignal(false)

export { config, hasEnded, login }
/** Who looks at this page: another user, or the same one in another project, is another. Null for nobody. */
export const viewer = createRoot(() =>
  createMemo(() => {
    const who = login()
    return who && JSON.stringify([who.user, who.project])
  }),
)
/** What is kept for the viewer is forgotten for the next one. */
export const forNext = (forget: () => void): void =>
  createRoot(() => createEffect(on(viewer, () => forget(), { defer: true })))
/** Whether people log in here at all. */
export const hasAccounts = () => config()?.identity === 'password' || config()?.identity === 'keystone'

/** Finds out how this server wants to be entered, and goes on with the login that this tab has. */
export async function open(): Promise<void> {
  const answer = await fetch('/ui/config.json', { cache: 'no-store' })
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`)
  const found = (await answer.json()) as Config
  setConfig(found)
  const kept = sessionStorage.getItem(KEPT)
  if (found.identity === 'none') setLogin({ ...NOBODY, url: location.origin })
  else if (found.identity === 'noauth2')
    setLogin({ ...NOBODY, url: location.origin, headers: { 'x-auth-token': 'admin' } })
  else if (kept !== null) setLogin({ ...(JSON.parse(kept) as Login), url: location.origin })
}

export async function enter(credentials: Credentials): Promise<void> {
  const by = (proof: Credentials) =>
    logIn({ url: location.origin, authUrl: `${location.origin}${IDENTITY}`, credentials: proof, region: null })
  const found = await by(credentials)
  // Who says no project and has no default one gets in nowhere, which shows nothing.
  const isNowhere = credentials.kind === 'password' && credentials.project === null && found.project === null
  if (!isNowhere) return carryOn(found)
  try {
    carryOn(await by({ ...credentials, project: await onlyProjectOf(found) }))
  } finally {
    void revoke(tokenOf(found))
  }
}

async function onlyProjectOf({ headers }: Login): Promise<{ id: string }> {
  const answer = await fetch(`${IDENTITY}/auth/projects`, { headers })
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`)
  const { projects } = (await answer.json()) as { projects: { id: string; name: string }[] }
  const [only, ...others] = projects
  if (only === undefined || others.length > 0) {
    throw new Error(words.login.whichProject(projects.map(({ name }) => name).toSorted()))
  }
  return { id: only.id }
}

const tokenOf = (who: Login | null): string[] => [who?.headers['x-auth-token'] ?? []].flat()

/** The server forgets these tokens. It is told also if the page is closed right now. */
async function revoke(tokens: readonly string[]): Promise<void> {
  const end = (token: string) =>
    fetch(`${IDENTITY}/auth/tokens`, {
      method: 'DELETE',
      headers: { 'x-auth-token': token, 'x-subject-token': token },
      keepalive: true,
    })
  await Promise.allSettled(tokens.map(end))
}

const formerTokens = () => JSON.parse(sessionStorage.getItem(FORMER) ?? '[]') as string[]

/** From now on as this one. What was asked with the token before may still be answered. */
export function carryOn(found: Login): void {
  const former = new Set([...formerTokens(), ...tokenOf(login())]).difference(new Set(tokenOf(found)))
  if (former.size > 0) sessionStorage.setItem(FORMER, JSON.stringify([...former]))
  sessionStorage.setItem(KEPT, JSON.stringify(found))
  setHasEnded(false)
  setLogin(found)
}

/** Forgets the login. The server forgets its tokens too, but for one that has ended there already. */
export async function leave(because: 'asked' | 'ended'): Promise<void> {
  const tokens = [...formerTokens(), ...(because === 'asked' ? tokenOf(login()) : [])]
  sessionStorage.removeItem(KEPT)
  sessionStorage.removeItem(FORMER)
  setHasEnded(because === 'ended')
  setLogin(null)
  await revoke(tokens)
}

/** The server, as the one who is logged in. */
export function server(): Holdfast {
  const who = login()
  if (who === null) throw new Error('nobody is logged in')
  if (known?.login !== who) known = { login: who, server: holdfastAt(who) }
  return known.server
}
let known: { login: Login; server: Holdfast } | null = null
