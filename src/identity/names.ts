// What users and projects are called, from memory: as the users file says, or else as their tokens said last.
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import { BoundedMap } from '../shared/bounded-map.ts'
import { limits } from '../shared/limits.ts'
import { Runner } from '../shared/runner.ts'
import type { Store } from '../store/store.ts'
import type { Caller } from './caller.ts'
import type { Directory } from './directory.ts'
import { type NameKind, rememberSeen, type SeenMember, type SeenName, seenSince } from './seen-names.ts'

export interface Named {
  readonly id: string
  readonly name: string
}

/** Those with that name, or that id, of a service that keeps users; null when it doesn't tell. */
export type AskForNames = (kind: NameKind, word: string) => Promise<readonly Named[] | null>

interface NamesOptions {
  store: Store
  clock: Clock
  log: Logger
  /** The users of our own; null where others keep them. */
  directory: () => Directory | null
  /** Asks whoever else keeps the users; null where nobody does, and everyone gets in under any name. */
  ask: AskForNames | null
}

interface Known {
  name: string
  seenAt: number
}

export class Names {
  readonly #options: NamesOptions
  readonly #known = {
    user: new BoundedMap<string, Known>(limits.seenNamesMax),
    project: new BoundedMap<string, Known>(limits.seenNamesMax),
  }
  /** When a user was last seen in a project, by both. */
  readonly #members = new BoundedMap<string, SeenMember>(limits.seenNamesMax)
  /** Callers are kept with their tokens, so that most requests cost one look. */
  readonly #met = new WeakSet<Caller>()
  #news: { names: SeenName[]; members: SeenMember[] } = { names: [], members: [] }
  readonly #writer: Runner
  readonly #reader: Runner
  /** All that was written before is known. */
  #readAt = 0
  /** When it last looked for what others wrote, and tried to write. */
  #lookedAt = 0
  #triedAt = 0

  constructor(options: NamesOptions) {
    const { log } = options
    this.#options = options
    const failed = (error: unknown) => log.warn({ err: error }, 'the names of users could not be kept')
    this.#writer = new Runner(() => this.#write(), failed)
    this.#reader = new Runner(() => this.#read(), failed)
  }

  async load(): Promise<void> {
    await this.#read()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#writer.stop(), this.#reader.stop()])
  }

  /** The user's name, or the id when no name is known. */
  user(id: string): string {
    return this.#options.directory()?.userWithId(id)?.name ?? this.#nameOf('user', id)
  }

  /** The project's name, or the id when no name is known. */
  project(id: string): string {
    return this.#options.directory()?.projectWithId(id)?.name ?? this.#nameOf('project', id)
  }

  /** All of a kind: of our own users and projects, or those that were seen. */
  list(kind: NameKind): Named[] {
    const directory = this.#options.directory()
    if (directory) return (kind === 'user' ? directory.users : directory.projects).map(({ id, name }) => ({ id, name }))
    return this.#seen(kind)
  }

  #seen(kind: NameKind): Named[] {
    this.#look()
    return [...this.#known[kind].entries()].map(([id, { name }]) => ({ id, name }))
  }

  /** Those who were called so when they were seen last, and aren't there any more. */
  gone(kind: NameKind, word: string): Named[] {
    const present = new Set(this.list(kind).map(({ id }) => id))
    return this.#seen(kind).filter(({ id, name }) => name === word && !present.has(id))
  }

  /** The one with that id, or else all that are called so: names are unique in a Keystone's domain only. */
  called(kind: NameKind, word: string): Named[] {
    const every = this.list(kind)
    const byId = every.find(({ id }) => id === word)
    return byId ? [byId] : every.filter(({ name }) => name === word)
  }

  /** Like `called`, but asks who keeps the users first: a name that was seen may be another's by now. */
  async find(kind: NameKind, word: string): Promise<readonly Named[]> {
    const { directory, ask } = this.#options
    const seen = this.called(kind, word)
    if (directory() || seen[0]?.id === word) return seen
    // Where nobody keeps users, nobody can say that a word is no id.
    if (!ask) return seen.length > 0 ? seen : [{ id: word, name: word }]
    const told = await ask(kind, word)
    for (const one of told ?? []) this.learn(kind, one)
    return told ?? seen
  }

  /** The users who have a role in a project, or were seen in it. */
  membersOf(project: string): ReadonlySet<string> {
    const directory = this.#options.directory()
    if (directory) {
      const { name } = directory.projectWithId(project) ?? {}
      return new Set(
        directory.users.filter(user => name !== undefined && user.assignments.has(name)).map(({ id }) => id),
      )
    }
    const members = [...this.#members.entries()].map(([, member]) => member)
    return new Set(members.filter(({ project_id }) => project_id === project).map(({ user_id }) => user_id))
  }

  /** Takes in the names that come with a caller. They are written down later: no answer waits for it. */
  saw(caller: Caller): void {
    // Whoever comes when there are too many comes again, with the next check of the token.
    if (caller.userName === undefined || this.#met.has(caller) || this.#isTooMuch()) return
    this.#met.add(caller)
    const now = this.#options.clock.now()
    const { user, userName, project, projectName } = caller
    this.learn('user', { id: user, name: userName })
    if (project === null) return
    if (projectName) this.learn('project', { id: project, name: projectName })
    const key = keyOf(project, user)
    const isOld = ({ seen_at }: SeenMember) => now - seen_at > limits.seenAgainMs
    const present = this.#members.get(key)
    if (present && !isOld(present)) return
    const member = { project_id: project, user_id: user, seen_at: now }
    this.#members.set(key, member)
    this.#news.members.push(member)
    void this.#writer.run()
  }

  /** Takes in a name from wherever it is known. */
  learn(kind: NameKind, { id, name }: Named): void {
    if (id === name || this.#isTooMuch() || !isKeepable(id) || !isKeepable(name)) return
    const now = this.#options.clock.now()
    const present = this.#known[kind].get(id)
    if (present?.name === name && now - present.seenAt <= limits.seenAgainMs) return
    this.#known[kind].set(id, { name, seenAt: now })
    this.#news.names.push({ kind, id, name, seen_at: now })
    void this.#writer.run()
  }

  #nameOf(kind: NameKind, id: string): string {
    this.#look()
    return this.#known[kind].get(id)?.name ?? id
  }

  /** Other processes see names too. On SQLite there are none. */
  #look(): void {
    const { store, clock } = this.#options
    if (store.dialect === 'sqlite' || Math.abs(clock.now() - this.#lookedAt) < limits.seenNamesLookMs) return
    this.#lookedAt = clock.now()
    void this.#reader.run()
  }

  async #read(): Promise<void> {
    const { store, clock } = this.#options
    const now = clock.now()
    // What a clock says that was set back is later than some that was written after it.
    const since = this.#readAt === 0 ? 0 : Math.min(this.#readAt, now) - limits.clockSlackMs
    const { names, members } = await store.read(() => seenSince(since))
    this.#readAt = now
    for (const { kind, id, name, seen_at } of names) {
      const present = this.#known[kind].get(id)
      if (!present || present.seenAt <= seen_at) this.#known[kind].set(id, { name, seenAt: seen_at })
    }
    for (const member of members) this.#members.set(keyOf(member.project_id, member.user_id), member)
  }

  /** Whether no more can be taken in. What is there may have failed to be written: then it is tried again. */
  #isTooMuch(): boolean {
    const { names, members } = this.#news
    if (names.length + members.length < limits.seenNamesPerWrite) return false
    if (Math.abs(this.#options.clock.now() - this.#triedAt) >= limits.seenNamesLookMs) void this.#writer.run()
    return true
  }

  async #write(): Promise<void> {
    const { names, members } = this.#news
    this.#news = { names: [], members: [] }
    if (names.length + members.length === 0) return
    this.#triedAt = this.#options.clock.now()
    // As of now: those who follow would not look back to when it was learned.
    const asOfNow = <T>(one: T) => ({ ...one, seen_at: this.#triedAt })
    const seen = {
      names: lastOf(names, one => `${one.kind} ${one.id}`).map(asOfNow),
      members: lastOf(members, keyOfMember).map(asOfNow),
    }
    try {
      await this.#options.store.write(() => rememberSeen(seen))
    } catch (error) {
      // They go with the next ones.
      this.#news = { names: [...names, ...this.#news.names], members: [...members, ...this.#news.members] }
      throw error
    }
  }
}

/** Ids have no line feed; where one has, two pairs may be taken for one, and nothing but a name is missed. */
const keyOf = (project: string, user: string) => `${project}\n${user}`
const keyOfMember = ({ project_id, user_id }: SeenMember) => keyOf(project_id, user_id)

/** The last of each key, in the order of the keys: transactions that lock in one order don't wait for each other. */
function lastOf<T>(rows: readonly T[], key: (row: T) => string): T[] {
  const last = new Map(rows.map(row => [key(row), row]))
  return [...last].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** Whether both databases can keep it. */
const isKeepable = (text: string) =>
  text.length > 0 && text.length <= limits.loginNameCharsMax && !text.includes('\0') && text.isWellFormed()
