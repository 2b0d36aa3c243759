// Reads the log for tests, and checks each event against the page on events.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { eventKindOf } from '../../src/events/kinds.ts'
import { Client } from './client.ts'
import { expectStatus } from './placement.ts'

export interface Told {
  /** Without `holdfast.`. */
  type: string
  user: string
  request: string | null
  whose: Record<string, string | null>
  // oxlint-disable-next-line typescript/no-explicit-any -- as answers are: a test says what it expects
  data: any
}

const page = readFileSync(new URL('../../docs/EVENTS.md', import.meta.url), 'utf8')
const documented = new Map(
  [...page.matchAll(/^\| `([\w.]+)` \| .+? \|(.*)\|$/gm)].map(([, type, fields]) => [
    type!,
    new Set(fields!.match(/\w+/g) ?? []),
  ]),
)
export const TYPES: ReadonlySet<string> = new Set(documented.keys())

export class Log {
  readonly #client = new Client('/holdfast/v1')
  /** The types that were read. */
  readonly seen = new Set<string>()

  at(...origins: string[]): void {
    this.#client.origins = origins
  }

  /** The token of its requests. */
  logIn(token: string): void {
    this.#client.defaultToken = token
  }

  close(): void {
    this.#client.close()
  }

  /** What became of an object, the oldest first. A node and its provider have the same id. */
  async of(kind: string, id: string): Promise<Told[]> {
    const entries: Entry[] = []
    for (let next: string | undefined = `/audit?object=${id}`; next !== undefined;) {
      const { body } = expectStatus(await this.#client.get(next), 200)
      entries.push(...body.entries)
      next = body.next?.slice(body.next.indexOf('/audit?'))
    }
    // By id: an entry has the time at which its request began.
    entries.sort((a, b) => a.id - b.id)
    const events = entries.flatMap(({ objects, user, request_id }) =>
      objects
        .filter(one => one.id === id && one.became !== undefined && eventKindOf(one.kind) === kind)
        .map(({ became, whose = {}, data = {} }) => ({
          type: `${kind}.${became}`,
          user,
          request: request_id,
          whose,
          data,
        })),
    )
    events.forEach(event => this.#check(event))
    return events
  }

  #check({ type, data }: Told): void {
    this.seen.add(type)
    const fields = documented.get(type)
    assert.ok(fields, `${type} is documented`)
    const unknown = Object.keys(data).filter(name => !fields.has(name))
    assert.deepEqual(unknown, [], `the data of ${type} are documented`)
    assert.doesNotMatch(JSON.stringify(data), /hunter2/, 'no secrets')
  }
}

interface Entry {
  id: number
  user: string
  request_id: string | null
  objects: { kind: string; id: string; became?: string; whose?: Told['whose']; data?: object }[]
}
