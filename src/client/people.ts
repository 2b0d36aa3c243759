// Users and projects: what they are called, and, where Holdfast keeps them itself, who there is.
import { ApiError } from './errors.ts'
import { type Api, type Json, segment } from './wire.ts'

export interface Named {
  id: string
  name: string
}

export interface Project extends Json, Named {
  description: string
  enabled: boolean
}

export interface User extends Json, Named {
  enabled: boolean
  default_project_id?: string
}

export interface Grant {
  role: Named
  user: Named
  project: Named
}

/** For programs, in place of a user's password. */
export interface ApplicationCredential extends Json, Named {
  description: string
  roles: Named[]
  expires_at: string | null
}

/** The secret is shown only when it is made. */
export interface NewApplicationCredential extends ApplicationCredential {
  secret: string
}

type Kind = 'user' | 'project'

/** As many as a server takes in one URL. */
const IDS_MAX = 100

export class Names {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** The names of these users and projects, as far as you may know them. */
  async of(ids: Iterable<string>): Promise<{ users: Map<string, string>; projects: Map<string, string> }> {
    const wanted = [...new Set(ids)].filter(id => id !== '' && !id.includes(','))
    const query = wanted.length <= IDS_MAX ? { ids: wanted.join(',') } : {}
    const none = { users: [], projects: [] }
    const found =
      wanted.length === 0 ? none : await this.#api.get<Record<'users' | 'projects', Named[]>>('/names', query)
    const byId = (list: readonly Named[]) => new Map(list.map(({ id, name }) => [id, name]))
    return { users: byId(found.users), projects: byId(found.projects) }
  }

  /** All that you may know of. */
  all = () => this.#api.get<Record<'users' | 'projects', Named[]>>('/names')

  /** The id of the one with this name or id; with `gone`, also of one who is there no more. */
  async resolve(kind: Kind, word: string, { gone = false } = {}): Promise<string> {
    const query = { [kind]: word, ...(gone && { gone }) }
    const found = (await this.#api.get<Record<string, Named[]>>('/names', query))[`${kind}s`]!
    const [one, ...others] = found
    if (!one) throw new ApiError(404, `there is no ${kind} ${word}`)
    if (others.length === 0) return one.id
    const ids = found.map(({ id }) => id).join(', ')
    throw new ApiError(409, `there are ${found.length} ${kind}s called ${word}; say which by its id: ${ids}`)
  }
}

export class Projects {
  readonly #api: Api
  readonly #names: Names

  constructor(api: Api, names: Names) {
    this.#api = api
    this.#names = names
  }

  /** The id of the project with this name or id. */
  resolve = (word: string) => this.#names.resolve('project', word)
  async list(): Promise<Project[]> {
    return (await this.#api.get<{ projects: Project[] }>('/projects')).projects
  }
  async show(id: string): Promise<Project> {
    return (await this.#api.get<{ project: Project }>(`/projects/${segment(id)}`)).project
  }
  async create(project: { name: string; description?: string | undefined }): Promise<Project> {
    return (await this.#api.post<{ project: Project }>('/projects', { project })).project
  }
  async change(id: string, project: Json): Promise<Project> {
    return (await this.#api.patch<{ project: Project }>(`/projects/${segment(id)}`, { project })).project
  }
  delete = (id: string) => this.#api.delete(`/projects/${segment(id)}`)
}

export class Users {
  readonly #api: Api
  readonly #names: Names

  constructor(api: Api, names: Names) {
    this.#api = api
    this.#names = names
  }

  /** The id of the user with this name or id. */
  resolve = (word: string) => this.#names.resolve('user', word)
  async list(): Promise<User[]> {
    return (await this.#api.get<{ users: User[] }>('/users')).users
  }
  async show(id: string): Promise<User> {
    return (await this.#api.get<{ user: User }>(`/users/${segment(id)}`)).user
  }
  async create(user: { name: string; password?: string | undefined }): Promise<User> {
    return (await this.#api.post<{ user: User }>('/users', { user })).user
  }
  async change(id: string, user: Json): Promise<User> {
    return (await this.#api.patch<{ user: User }>(`/users/${segment(id)}`, { user })).user
  }
  delete = (id: string) => this.#api.delete(`/users/${segment(id)}`)

  /** Your own. All your tokens end. */
  changePassword = (id: string, original: string, password: string) =>
    this.#api.post<void>(`/users/${segment(id)}/password`, { user: { original_password: original, password } })

  /** Those of a user. */
  async credentials(id: string): Promise<ApplicationCredential[]> {
    return (await this.#api.get<{ application_credentials: ApplicationCredential[] }>(credentialsOf(id)))
      .application_credentials
  }
  /** Your own, in the project that you are logged in to. Without roles it may do what you may. */
  async createCredential(
    id: string,
    wanted: {
      name: string
      description?: string | undefined
      expires_at?: string | undefined
      roles?: { name: string }[]
    },
  ): Promise<NewApplicationCredential> {
    const body = { application_credential: wanted }
    return (await this.#api.post<{ application_credential: NewApplicationCredential }>(credentialsOf(id), body))
      .application_credential
  }
  deleteCredential = (id: string, credential: string) => this.#api.delete(`${credentialsOf(id)}/${segment(credential)}`)

  /** Who has which role where; of one user, or of all. */
  async grants(user?: string): Promise<Grant[]> {
    const query = { include_names: true, ...(user !== undefined && { 'user.id': user }) }
    const found = await this.#api.get<{ role_assignments: (Omit<Grant, 'project'> & { scope: { project: Named } })[] }>(
      '/role_assignments',
      query,
    )
    return found.role_assignments.map(({ role, user: who, scope }) => ({ role, user: who, project: scope.project }))
  }

  grant = async (grant: { user: string; project: string; role: string }) =>
    this.#api.put<void>(await this.#grantPath(grant))
  revoke = async (grant: { user: string; project: string; role: string }) =>
    this.#api.delete(await this.#grantPath(grant))

  async #grantPath({ user, project, role }: { user: string; project: string; role: string }): Promise<string> {
    const { roles } = await this.#api.get<{ roles: Named[] }>('/roles', { name: role })
    const [found] = roles
    if (!found) throw new ApiError(404, `there is no role ${role}`)
    return `/projects/${segment(project)}/users/${segment(user)}/roles/${segment(found.id)}`
  }
}

const credentialsOf = (user: string) => `/users/${segment(user)}/application_credentials`
