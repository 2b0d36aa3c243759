// The other projects of the one who is logged in: the same person, with another project's rights.
import type { Login } from '../../../src/client/login.ts'
import { carryOn, IDENTITY, login } from './session.ts'

interface ProjectChoice {
  id: string
  name: string
}

interface Answer {
  token: {
    user: { id: string; name: string }
    project: ProjectChoice
    roles?: { name: string }[]
  }
}

async function asked<T>(path: string, request: RequestInit = {}): Promise<{ body: T; headers: Headers }> {
  const headers = { ...login()?.headers, 'content-type': 'application/json' }
  const answer = await fetch(`${IDENTITY}${path}`, { ...request, headers })
  const body = (await answer.json().catch(() => ({}))) as T & { error?: { message?: string } }
  if (!answer.ok) throw new Error(body.error?.message ?? `${answer.status} ${answer.statusText}`)
  return { body, headers: answer.headers }
}

/** All of them by name, the present one too. */
export async function ownProjects(): Promise<ProjectChoice[]> {
  const { body } = await asked<{ projects: ProjectChoice[] }>('/auth/projects')
  return body.projects.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Goes on in another project. The present token proves who we are; no password is needed. */
export async function switchProject({ id }: ProjectChoice): Promise<void> {
  const token = { id: login()?.headers['x-auth-token'] ?? '' }
  const auth = { identity: { methods: ['token'], token }, scope: { project: { id } } }
  const { body, headers } = await asked<Answer>('/auth/tokens', { method: 'POST', body: JSON.stringify({ auth }) })
  const { user, project, roles = [] } = body.token
  const found: Omit<Login, 'url'> = {
    headers: { 'x-auth-token': headers.get('x-subject-token') ?? '' },
    user: user.id,
    project: project.id,
    who: { user: user.name, project: project.name, roles: roles.map(({ name }) => name) },
  }
  carryOn({ ...found, url: location.origin })
}
