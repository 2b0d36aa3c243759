// Connections for the demo's people: each logs in if possible, else the admin acts for all.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, connect, type Holdfast } from '../../client/index.ts'
import { demoUuid } from './marks.ts'
import { PEOPLE, type Person, type ProjectName } from './people.ts'
import type { Passwords } from './users.ts'

export interface Crowd {
  readonly admin: Holdfast
  /** Whether people log in themselves; else the admin acts for them. */
  readonly areThemselves: boolean
  readonly as: (person: Person) => Promise<Holdfast>
  /** The id of a project. */
  readonly projectOf: (project: ProjectName) => string
}

/** A running server reads new users within a second, a busy one a little later. */
const USERS_FILE_MS_MAX = 10_000
const USERS_FILE_LOOK_MS = 700
/** Tokens last for hours, so this is early enough to renew them. */
const TOKEN_KEPT_MS = 30 * 60_000

/** Without passwords people can log in only if the server lets everyone in. */
export async function gather(admin: Holdfast, passwords: Passwords | null, now: () => number): Promise<Crowd> {
  const { url } = admin
  if (passwords === null && !(await isOpen(url))) return inTheirNames(admin)
  const logIn = ({ name, project }: Person) =>
    connect({
      url,
      env: { OS_USERNAME: name, OS_PASSWORD: passwords?.[name] ?? 'demo', OS_PROJECT_NAME: project },
    })
  const tokens = new Map<string, { at: number; server: Holdfast }>()
  const as = async (person: Person) => {
    const kept = tokens.get(person.name)
    if (kept && now() - kept.at < TOKEN_KEPT_MS) return kept.server
    const server = await logIn(person)
    tokens.set(person.name, { at: now(), server })
    return server
  }
  const projects = new Map<ProjectName, string>()
  for (const person of PEOPLE) projects.set(person.project, await projectOnceKnown(() => as(person)))
  return { admin, areThemselves: true, as, projectOf: project => projects.get(project)! }
}

async function projectOnceKnown(logIn: () => Promise<Holdfast>): Promise<string> {
  for (let left = USERS_FILE_MS_MAX; ; left -= USERS_FILE_LOOK_MS) {
    try {
      return (await logIn()).project!
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401 || left <= 0) throw error
      await sleep(USERS_FILE_LOOK_MS)
    }
  }
}

/** Whether the server lets everyone in, under any name. */
export async function isOpen(url: string): Promise<boolean> {
  try {
    await (await connect({ url, env: {} })).nodes.list({ limit: 1, fields: ['uuid'] })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false
    throw error
  }
}

const inTheirNames = (admin: Holdfast): Crowd => ({
  admin,
  areThemselves: false,
  as: async () => admin,
  projectOf: project => demoUuid('project', project).replaceAll('-', ''),
})
