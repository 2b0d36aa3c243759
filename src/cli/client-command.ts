// Shared by all commands that talk to a server: finding it, output options, an example in the help.
import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { ConnectionUnclear } from '../client/errors.ts'
import { connect, type Holdfast, type Where, whereIs } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import { durationIn } from '../shared/when.ts'
import { withExample } from './example.ts'
import { tell, verdictOn } from './failures.ts'
import { FORMATS, type OutputFlags } from './output.ts'
import { askSecret } from './secret.ts'
import { connectOptionsOf, type ServerFlags, serverFlagsOf, withServerFlags } from './server-flags.ts'
import { terminal } from './terminal.ts'

export type { ServerFlags } from './server-flags.ts'

export type Flags = OutputFlags & ServerFlags

/** A command with the options that name a server; `example` is shown below its help. */
export function serverCommand(parent: Command, usage: string, help: string, example: string): Command {
  return withExample(withServerFlags(parent.command(usage).description(help)), example)
}

/** `columns` are the default ones, for completion. Users may choose any other field of the answer too. */
export class ColumnOption extends Option {
  readonly columns: readonly string[]

  constructor(columns: readonly string[]) {
    super('-c, --column <column>', 'print only this column; may be repeated')
    this.columns = columns
    this.argParser(many)
  }
}

/** A server command that prints its answer, with --format and --column. */
export function printingCommand(
  parent: Command,
  usage: string,
  help: string,
  example: string,
  columns: readonly string[] = [],
): Command {
  return serverCommand(parent, usage, help, example)
    .addOption(new Option('-f, --format <format>', 'how to print it').choices(FORMATS).default('table'))
    .addOption(new ColumnOption(columns))
}

/** For options that may be repeated. */
export const many = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value]

/** For options that take several names: separated by spaces, by commas, or in repeated options. */
export const listed = (value: string, before: string[] | undefined): string[] => [
  ...(before ?? []),
  ...value.split(',').map(name => name.trim()),
]

/** Connects to the server that the flags name, then runs the action. The last of its arguments is the flags. */
export function onServer<Given extends [...unknown[], ServerFlags]>(
  action: (server: Holdfast, ...given: Given) => Promise<void>,
) {
  return async (...given: unknown[]): Promise<void> => {
    // Commander adds the command itself after the flags.
    const words = given.slice(0, -1) as Given
    await action(await connectWith(serverFlagsOf(given.at(-1) as Command)), ...words)
  }
}

/** The passwords that were typed, by user: kept, so that a second login doesn't ask again. */
const typed = new Map<string, string>()

/** Finds the server that the flags name, and from then on trusts their CA certificate. */
export function whereWith(flags: ServerFlags): Where {
  const where = whereIs(connectOptionsOf(flags))
  if (where.cacert !== null) trust(where.cacert)
  return where
}

export async function connectWith(flags: ServerFlags, canAsk = terminal().stdin.isTTY): Promise<Holdfast> {
  whereWith(flags)
  return connect({ ...connectOptionsOf(flags), askPassword: passwordAsker(canAsk) })
}

/** undefined without a terminal: a script can't be asked for a password. */
export function passwordAsker(canAsk = terminal().stdin.isTTY): ((user: string) => Promise<string>) | undefined {
  const ask = async (user: string) => {
    const password = typed.get(user) ?? (await askSecret(`Password of ${user}: `))
    typed.set(user, password)
    return password
  }
  return canAsk ? ask : undefined
}

export function trust(file: string): void {
  // Loaded only here: node:tls is slow to load, and most servers need no extra certificate.
  const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule('node:tls')
  try {
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')])
  } catch (error) {
    throw new ConnectionUnclear(`can't use the certificates in ${file}: ${(error as Error).message}`, { cause: error })
  }
}

export type Document = Record<string, unknown>

/** `key=value` words as an object. A value that is valid JSON is parsed, any other is text. */
export function pairsIn(words: readonly string[] = [], read: (value: string) => unknown = jsonOrText): Document {
  return Object.fromEntries(
    words.map(word => {
      const at = word.indexOf('=')
      if (at < 1) throw new UsageError(`'${word}' is not of the form key=value`)
      return [word.slice(0, at), read(word.slice(at + 1))]
    }),
  )
}

export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Milliseconds in 90s, 10m, 2h, 1d12h or a number of seconds. */
export function durationOf(text: string): number {
  const ms = durationIn(text)
  if (ms === null || ms <= 0) throw new UsageError(`'${text}' is no duration such as 90s, 10m, 2h or 1d12h`)
  return ms
}

export function countOf(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0) throw new UsageError(`'${text}' is no number above zero`)
  return Number(text)
}

/** Leaves out the members that are undefined. */
export const given = (members: Document): Document =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** Runs an action for several things: tries all, prints each failure, and fails with the last one. */
export class Attempts {
  readonly succeeded = new Set<string>()
  #failure: unknown = null

  async each(idents: readonly string[], action: (ident: string) => Promise<void>): Promise<void> {
    for (const ident of idents) {
      try {
        await action(ident)
        this.succeeded.add(ident)
      } catch (error) {
        this.succeeded.delete(ident)
        const before = verdictOn(this.#failure)
        if (before) tell(before)
        this.#failure = error
      }
    }
  }

  finish(): void {
    if (this.#failure !== null) throw this.#failure
  }
}

export async function forEach(idents: readonly string[], action: (ident: string) => Promise<void>): Promise<void> {
  const attempts = new Attempts()
  await attempts.each(idents, action)
  attempts.finish()
}
