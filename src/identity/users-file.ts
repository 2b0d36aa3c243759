// The users file: users, projects and roles in YAML, read strictly, and changed without losing its comments.
import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Static } from 'typebox'
import type { Document } from 'yaml'
import { systemClock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import { replaceFile } from '../shared/replace-file.ts'
import { yaml } from '../shared/yaml.ts'
import { ID_PATTERN, idOf, SERVICE_USER_ID } from './ids.ts'
import { HASH_PATTERN } from './passwords.ts'
import { ROLES, type Role } from './roles.ts'
import { Type } from '../shared/type.ts'

/** Why the file can't be read or changed, in one line. */
export class UsersFileError extends Error {}

/** No colon, which ends the name in HTTP Basic, and no control characters. */
export const NAME_PATTERN = '^[^:\\u0000-\\u001f\\u007f-\\u009f]{1,255}$'

const Id = Type.String({ pattern: ID_PATTERN })
const RoleName = Type.Unsafe<Role>({ type: 'string', enum: ROLES })
const strict = { additionalProperties: false }

const ProjectEntry = Type.Object(
  {
    id: Type.Optional(Id),
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    enabled: Type.Optional(Type.Boolean()),
  },
  strict,
)
const UserEntry = Type.Object(
  {
    id: Type.Optional(Id),
    password: Type.String({ pattern: HASH_PATTERN }),
    roles: Type.Optional(Type.Record(Type.String(), Type.Array(RoleName, { maxItems: ROLES.length }))),
    'default-project': Type.Optional(Type.String()),
    enabled: Type.Optional(Type.Boolean()),
    'signed-out': Type.Optional(Type.String({ maxLength: 64 })),
  },
  strict,
)
const UsersFileSchema = Type.Object(
  {
    projects: Type.Record(Type.String({ pattern: NAME_PATTERN }), Type.Union([ProjectEntry, Type.Null()]), strict),
    users: Type.Record(Type.String({ pattern: NAME_PATTERN }), UserEntry, strict),
  },
  strict,
)
export type UsersFile = Static<typeof UsersFileSchema>
export type UserEntry = Static<typeof UserEntry>

/** Compiled only where there is such a file. */
let compiled: ValidateFunction<UsersFile> | null = null

/** Parses the text. A UsersFileError names the place and never shows a hash. */
export function parseUsersFile(text: string): UsersFile {
  if (text.length > limits.usersFileBytesMax) throw new UsersFileError('the file is too large')
  let content: unknown
  try {
    content = yaml().parse(text, { maxAliasCount: 0 })
  } catch (error) {
    const [where] = /at line \d+, column \d+/.exec((error as Error).message) ?? []
    throw new UsersFileError(`it is not YAML${where ? ` ${where}` : ''}`, { cause: error })
  }
  // An editor on a full disk leaves nothing, and so does `> users.yaml`: that isn't the wish to let nobody in.
  if (content === null) throw new UsersFileError('it is empty; one for nobody says users: {}')
  const file = { projects: {}, users: {}, ...(content as object) }
  const validate = (compiled ??= new Ajv({ strict: false, allowUnionTypes: true }).compile<UsersFile>(UsersFileSchema))
  if (typeof content !== 'object' || Array.isArray(content) || !validate(file)) {
    throw new UsersFileError(whatIsWrong(validate.errors?.[0]))
  }
  requireWhole(file)
  return file
}

function whatIsWrong(error: ErrorObject | undefined): string {
  const where = error?.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/') || 'the file'
  if (!error) return `${where} must hold projects and users`
  const { additionalProperty, allowedValues } = error.params as {
    additionalProperty?: string
    allowedValues?: string[]
  }
  if (additionalProperty !== undefined) return `${where} can't have ${additionalProperty}`
  if (allowedValues !== undefined) return `${where} must be one of ${allowedValues.join(', ')}`
  if (where.endsWith('.password')) return `${where} must be a hash as 'holdfast user passwd' makes it`
  return `${where} ${error.message ?? 'is not valid'}`
}

/** Checks that ids are unique and that references exist. */
function requireWhole({ projects, users }: UsersFile): void {
  const ids = new Set<string>()
  const idsOf = (kind: 'project' | 'user', entries: object) =>
    Object.entries(entries).map(([name, entry]: [string, { id?: string } | null]) => entry?.id ?? idOf(kind, name))
  // Also of those without one: whoever has a former name of another must not have its id.
  for (const id of [...idsOf('project', projects), ...idsOf('user', users)]) {
    if (id === SERVICE_USER_ID) throw new UsersFileError(`the id ${id} is that of the built-in service user`)
    if (ids.has(id)) throw new UsersFileError(`the id ${id} is given twice`)
    ids.add(id)
  }
  for (const [name, { roles = {}, 'default-project': byDefault }] of Object.entries(users)) {
    for (const project of Object.keys(roles)) {
      if (!Object.hasOwn(projects, project)) {
        throw new UsersFileError(`users.${name}.roles names the project ${project}, which is not among the projects`)
      }
    }
    if (byDefault !== undefined && !Object.hasOwn(roles, byDefault)) {
      throw new UsersFileError(`users.${name} has no role in its default-project ${byDefault}`)
    }
  }
}

export function readUsersFile(path: string): UsersFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new UsersFileError(isAbsent ? 'there is no such file' : (error as Error).message, { cause: error })
  }
  return parseUsersFile(text)
}

const OPENING = ' Who may use Holdfast. A running server takes changes up within a second.'

/** A file that is made by its first user. */
const NOBODY_YET: UsersFile = { projects: {}, users: {} }

const holdsNothing = (text: string) => text.split('\n').every(line => /^\s*(#|$)/.test(line))

export type UsersEdit = (document: Document, content: UsersFile) => void

/** Replaces the file atomically, readable by its owner only. One change at a time. */
export function editUsersFile(path: string, edit: UsersEdit): void {
  const draft = new Draft(path)
  try {
    draft.write(edit)
    draft.publish()
  } finally {
    draft.close()
  }
}

/** Like editUsersFile, with work between the moment when the change is known to be right and the one when it holds. */
export async function editUsersFileAfter(
  path: string,
  edit: UsersEdit,
  work: (before: UsersFile, after: UsersFile) => Promise<void>,
): Promise<void> {
  const draft = new Draft(path)
  try {
    const { before, after } = draft.write(edit)
    await work(before, after)
    draft.publish()
  } finally {
    draft.close()
  }
}

/** The next content of the file. It is also the lock: while it exists, another change is under way. */
class Draft {
  readonly #target: string
  readonly #path: string
  readonly #fd: number
  #isPublished = false

  constructor(path: string) {
    this.#target = realPath(path)
    this.#path = `${this.#target}.new`
    this.#fd = openDraft(this.#path)
  }

  write(edit: UsersEdit): { before: UsersFile; after: UsersFile } {
    const text = readOr(this.#target, '')
    const before = holdsNothing(text) ? NOBODY_YET : parseUsersFile(text)
    const document = text.trim() === '' ? newDocument() : documentIn(text)
    edit(document, before)
    const next = document.toString({ lineWidth: 0 })
    const after = parseUsersFile(next)
    told(() => {
      fchmodSync(this.#fd, 0o600)
      // All of it: one write may do a part, when the disk is nearly full.
      writeFileSync(this.#fd, next)
      fsyncSync(this.#fd)
    })
    return { before, after }
  }

  publish(): void {
    if (!this.#isOurs()) throw new FileIsBusy(`${this.#path} was taken away during the change, which is not made`)
    // A file that is mounted alone, as into a container, can't be replaced.
    told(() => replaceFile(this.#path, this.#target))
    this.#isPublished = true
  }

  close(): void {
    if (!this.#isPublished && this.#isOurs()) rmSync(this.#path, { force: true })
    closeSync(this.#fd)
  }

  /** Whoever took us for dead has another one there. */
  #isOurs(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === fstatSync(this.#fd).ino
  }
}

/** Names are looked for as texts, and YAML reads `2024` as a number. */
function documentIn(text: string): Document {
  const { isScalar, parseDocument, visit } = yaml()
  const document = parseDocument(text)
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && typeof key.value !== 'string') key.value = String(key.value)
    },
  })
  return document
}

/** What fails with the disk is said as all that is wrong with the file. */
function told(work: () => void): void {
  try {
    work()
  } catch (error) {
    throw new UsersFileError((error as Error).message, { cause: error })
  }
}

function newDocument(): Document {
  const document = new (yaml().Document)({ projects: {}, users: {} })
  document.commentBefore = OPENING
  return document
}

/** Someone else changes the file just now. */
export class FileIsBusy extends UsersFileError {}

function openDraft(draft: string): number {
  try {
    return openSync(draft, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new UsersFileError((error as Error).message, { cause: error })
    }
    if (removeAbandoned(draft)) return openDraft(draft)
    throw new FileIsBusy(`${draft} is there: someone else is changing the file; try again`, { cause: error })
  }
}

/** Whoever was cut off during a change left a draft, which nobody will finish. */
function removeAbandoned(draft: string): boolean {
  const found = statSync(draft, { throwIfNoEntry: false })
  if (found && systemClock.now() - found.mtimeMs < limits.usersFileEditMsMax) return false
  if (found) rmSync(draft, { force: true })
  return true
}

/** A symbolic link stays: its target is replaced. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return fallback
    throw new UsersFileError((error as Error).message, { cause: error })
  }
}
