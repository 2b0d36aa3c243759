// Someone who follows the status as a page does: keeps what it was told, and comes back with its cursor.
import { listenAt, type Listening } from '../support/events.ts'
import type { Shown } from '../support/reservation.ts'

export class Viewer {
  readonly machines = new Map<string, Shown>()
  spans = new Map<string, Shown[]>()
  hosts: Shown[] = []
  waiting: Shown[] = []
  readonly changes: Shown[] = []
  cursor: string | null = null
  #stream: Listening | null = null
  #taken = 0
  readonly #headers: Record<string, string>
  readonly #query: string

  constructor(headers: Record<string, string> = { 'x-auth-token': 'admin' }, query = '') {
    this.#headers = headers
    this.#query = query
  }

  async connect(origin: string): Promise<this> {
    this.hangUp()
    const since = this.cursor === null ? '' : `since=${encodeURIComponent(this.cursor)}`
    const query = [this.#query, since].filter(Boolean).join('&')
    this.#taken = 0
    this.#stream = await listenAt(`${origin}/holdfast/v1/status${query && `?${query}`}`, this.#headers)
    await this.until(() => this.changes.length > 0, 'the first change')
    return this
  }

  get stream(): Listening {
    return this.#stream!
  }

  hangUp(): void {
    this.#stream?.hangUp()
  }

  /** Reads on until this holds of what it knows. */
  async until(holds: (viewer: this) => boolean, what?: string): Promise<void> {
    await this.stream.until(parser => {
      for (const { data, id } of parser.events.slice(this.#taken)) {
        this.#take(data)
        this.cursor = id
      }
      this.#taken = parser.events.length
      if (parser.lastEventId !== '') this.cursor = parser.lastEventId
      return holds(this)
    }, what)
  }

  /** The machine of this name, with the names of its traits. */
  named(name: string): Shown {
    return [...this.machines.values()].find(machine => machine.name === name)
  }

  #take(change: Shown): void {
    this.changes.push(change)
    if (change.since === null) {
      this.machines.clear()
      this.spans = new Map()
    }
    for (const uuid of change.gone) {
      this.machines.delete(uuid)
      this.spans.delete(uuid)
    }
    for (const row of change.machines) {
      const traits = row.traits.map((place: number) => change.traits[place])
      this.machines.set(row.uuid, { ...row, traits })
      this.spans.set(
        row.uuid,
        change.spans.filter(({ machine }: Shown) => machine === row.uuid),
      )
    }
    if (change.hosts) this.hosts = change.hosts
    if (change.waiting) this.waiting = change.waiting
  }
}
