// holdfast watch: a line for each event, as it happens.
import { type Command, Option } from 'commander'
import type { Event, Holdfast } from '../client/index.ts'
import { KINDS } from '../events/kinds.ts'
import { listed, onServer, type ServerFlags, serverCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { isObject, namesIn, soughtId } from './names.ts'
import { tell, visible, writeDocument } from './output.ts'
import { terminal } from './terminal.ts'
import { untilInterrupted } from './followed-list.ts'
import { localStamp, localTime } from './wall-clock.ts'

interface WatchFlags extends ServerFlags {
  kind?: string[]
  object?: string[]
  project?: string
  after?: string
  format: 'table' | 'json'
}

export function addCommands(program: Command, { name, help }: Word): void {
  serverCommand(program, name, help, 'watch --kind allocation lease.started')
    .option('--kind <kinds...>', `of these kinds (${Object.keys(KINDS).join(', ')}) or types (lease.started)`, listed)
    .option('--object <names...>', 'about these objects, by name or id', listed)
    .option('--project <project>', 'of this project')
    .option('--after <id>', 'after this event; 0 for all that are kept. From now on if it is not said')
    .addOption(
      new Option('-f, --format <format>', 'how to print it: words, or one CloudEvent a line')
        .choices(['table', 'json'])
        .default('table'),
    )
    .action(
      onServer(async (server, { kind: kinds, object: objects, project: given, after, format }: WatchFlags) =>
        untilInterrupted(async signal => {
          const { stdout } = terminal()
          for (const object of objects ?? []) {
            // It may come yet.
            if (!(await isObject(server, object)))
              tell(`no node, allocation, lease, provider or webhook is called ${object}`)
          }
          const project = await soughtId(server, 'project', given)
          const names = new People(server)
          for await (const event of server.events({ kinds, objects, project, after, signal })) {
            if (format === 'json') writeDocument(`${JSON.stringify(event)}\n`)
            else stdout.write(`${lineOf(event, await names.user(event))}\n`)
          }
        }),
      ),
    )
}

/** Who did it, by name. Each is asked for once. */
class People {
  readonly #server: Holdfast
  readonly #known = new Map<string, string>()

  constructor(server: Holdfast) {
    this.#server = server
  }

  async user({ data }: Event): Promise<string> {
    const { user } = data.by
    const known = this.#known.get(user)
    if (known !== undefined) return known
    const { users } = await namesIn(this.#server, [user]).catch(() => ({ users: new Map<string, string>() }))
    const name = users.get(user) ?? user
    this.#known.set(user, name)
    return name
  }
}

/** `Sun 15 Nov 16:39:56 CET  allocation active  job-1  it has a node: rack-a01-01, until …  by alice`. */
function lineOf({ time, type, subject, data }: Event, who: string): string {
  const [, kind = '', became = ''] = type.split('.')
  const id = subject.slice(subject.indexOf('/') + 1)
  const { name } = data
  const parts = [
    localStamp(time),
    `${kind} ${became}`,
    typeof name === 'string' ? name : id,
    [wordsFor(kind, became), ...detailsIn(data)].join('; '),
    `by ${who}`,
  ]
  return visible(parts.join('  '))
}

/** What the table of kinds says, as the middle of a line. */
function wordsFor(kind: string, became: string): string {
  const known: Readonly<Record<string, { became: Readonly<Record<string, string>> }>> = KINDS
  const says = known[kind]?.became[became] ?? became
  // Where the data has it, the line does too.
  return says.split(/[.;]/, 1)[0]!.replace(/^[A-Z]/, letter => letter.toLowerCase())
}

/** What a person wants to know of the data: from where to where, on which node, until when, and why. */
function detailsIn(data: Event['data']): string[] {
  const { from, to, node, until, reason, fields, added, removed } = data
  const words = (value: unknown) => (Array.isArray(value) && value.length > 0 ? value.join(', ') : null)
  return [
    isText(to) && (isText(from) ? `from ${from} to ${to}` : `to ${to}`),
    nodeIn(node) && `on ${nodeIn(node)}`,
    words(fields) && `changed ${words(fields)}`,
    words(added) && `added ${words(added)}`,
    words(removed) && `removed ${words(removed)}`,
    isText(until) && `until ${localTime(until)}`,
    isText(reason) && reason,
  ].filter(part => typeof part === 'string')
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

function nodeIn(node: unknown): string | null {
  if (isText(node)) return node
  const { name, uuid } = (node ?? {}) as { name?: unknown; uuid?: unknown }
  return isText(name) ? name : isText(uuid) ? uuid : null
}
