// The user as whom Holdfast calls a Nova whose Identity it is. It is in no file: it has no password, nobody can log in as
// it, and only the keys in the database make its tokens. It exists only where there is a Nova.
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import type { Store } from '../store/store.ts'
import type { Directory, Project, User } from './directory.ts'
import { idOf, SERVICE_USER_ID, SERVICE_USER_NAME } from './ids.ts'
import { KeyRing } from './key-ring.ts'
import { withImplied } from './roles.ts'

const PROJECT = 'service'

const SERVICE_USER: User = {
  id: SERVICE_USER_ID,
  name: SERVICE_USER_NAME,
  isEnabled: true,
  password: null,
  stamp: '',
  defaultProject: PROJECT,
  assignments: new Map([[PROJECT, ['admin', 'service']]]),
}

const ROLES = withImplied(['admin', 'service'])

/** One for each directory: whoever keeps a token compares the directory that it was granted with. */
const extended = new WeakMap<Directory, Directory>()

/** The directory with the service user and its project, for tokens. Lists of users don't show it. */
export function withServiceUser(directory: Directory): Directory {
  const known = extended.get(directory)
  if (known) return known
  // Operators usually have a project of that name for Nova's own user.
  const there = directory.project(PROJECT)
  const id = there?.id ?? idOf('project', PROJECT)
  const service: Project = { id, name: PROJECT, description: there?.description ?? '', isEnabled: true }
  const made: Directory = {
    users: directory.users,
    projects: directory.projects,
    dearest: directory.dearest,
    user: name => (name === SERVICE_USER_NAME ? SERVICE_USER : directory.user(name)),
    userWithId: wanted => (wanted === SERVICE_USER.id ? SERVICE_USER : directory.userWithId(wanted)),
    project: name => directory.project(name) ?? (name === PROJECT ? service : null),
    projectWithId: wanted => directory.projectWithId(wanted) ?? (wanted === id ? service : null),
    rolesOn: (user, project) => {
      if (user !== SERVICE_USER) return directory.rolesOn(user, project)
      return project.name === PROJECT ? ROLES : new Set()
    },
    systemRoles: user => (user === SERVICE_USER ? new Set() : directory.systemRoles(user)),
  }
  extended.set(directory, made)
  return made
}

interface AccountOptions {
  store: Store
  clock: Clock
  /** How long a token lasts at most. */
  lifeMs: number
}

/** Tokens of the service user, for processes with and without users: the keys are in the database. */
export class ServiceAccount {
  readonly #options: AccountOptions
  #keys: Promise<KeyRing> | null = null
  #token: { text: string; until: number } | null = null

  constructor(options: AccountOptions) {
    this.#options = options
  }

  async token(): Promise<string> {
    const { clock, lifeMs } = this.#options
    const now = clock.now()
    if (this.#token && now < this.#token.until) return this.#token.text
    const keys = await (this.#keys ??= KeyRing.open(this.#options).catch(error => {
      this.#keys = null
      throw error
    }))
    const text = await keys.sign({
      id: clock.newUuid().replaceAll('-', ''),
      user: SERVICE_USER_NAME,
      stamp: SERVICE_USER.stamp,
      project: PROJECT,
      system: false,
      methods: ['password'],
      credential: null,
      issuedAt: now,
      expiresAt: now + lifeMs,
    })
    this.#token = { text, until: now + lifeMs - Math.min(limits.keystoneRenewMs, lifeMs / 2) }
    return text
  }

  /** The token was refused: the keys were changed, for example. The next one is new. */
  refused(): void {
    this.#token = null
  }
}
