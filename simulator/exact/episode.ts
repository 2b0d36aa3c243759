// Clients whose things nobody else touches, so each answer can be told in advance: what is refused must have a true reason,
// what is done must be allowed, and what is shown must be what was answered before. They live in episodes: each has
// things of its own, and ends when an answer is lost, because then nothing is certain any more.
import { isDeepStrictEqual } from 'node:util'
import { type Actor, Client, type Reply, type Who } from '../clients/actor.ts'
import type { Chance, Request, Service } from '../port.ts'

class Uncertain extends Error {}

type Told = Parameters<Actor>[2]

/** A client that knows what comes. */
export class Knowing {
  readonly service: Service
  readonly chance: Chance
  readonly #check: string
  readonly #told: Told
  #client: Client

  constructor(service: Service, chance: Chance, check: string, told: Told) {
    this.service = service
    this.chance = chance
    this.#check = check
    this.#told = told
    this.#client = new Client(service, told)
  }

  /** From here on it asks as this one. */
  become(who: Who): void {
    this.#client = new Client(this.service, this.#told, who)
  }

  now = () => this.service.now()
  sleep = (ms: number) => this.service.sleep(ms)

  found(text: string): void {
    this.#client.found(this.#check, text)
  }

  /** Ends the episode if no answer comes. */
  async ask(method: Request['method'], url: string, body?: unknown): Promise<Reply> {
    const reply = await this.#client.ask(method, url, body)
    if (reply.outcome === 'unknown') throw new Uncertain()
    return reply
  }

  /** The answer must have this status; its body. */
  async expect(status: number, method: Request['method'], url: string, body?: unknown): Promise<Reply['body']> {
    const reply = await this.ask(method, url, body)
    if (reply.status === status) return reply.body
    const [sent, got] = [JSON.stringify(body) ?? '', JSON.stringify(reply.body)]
    this.found(`${method} ${url} ${sent.slice(0, 400)}: ${reply.status}, not ${status}: ${got.slice(0, 400)}`)
    // What is so now isn't known.
    throw new Uncertain()
  }

  get = (url: string) => this.expect(200, 'GET', url)

  same(what: string, shown: unknown, known: unknown): void {
    if (isDeepStrictEqual(shown, known)) return
    this.found(
      `${what} is ${JSON.stringify(shown)?.slice(0, 500)}, but must be ${JSON.stringify(known)?.slice(0, 500)}`,
    )
  }
}

/** What became of things, as those who follow the events must hear it. */
export class Chronicle {
  readonly #one: Knowing
  readonly #known = new Map<string, string[]>()

  constructor(one: Knowing) {
    this.#one = one
  }

  note(kind: string, id: string, ...became: string[]): void {
    const known = this.#known.getOrInsert(`${kind}/${id}`, [])
    known.push(...became)
  }

  forget(kind: string, id: string): void {
    this.#known.delete(`${kind}/${id}`)
  }

  /** All of it, and nothing else. What comes a while before an end is left out. */
  async check(): Promise<void> {
    const some = [...this.#known].slice(0, OBJECTS)
    if (some.length === 0) return
    const { events } = await this.#one.get(
      `/holdfast/v1/events?after=0&object=${some.map(([object]) => object).join()}`,
    )
    const told = (events as { type: string; subject: string }[]).map(({ type, subject }) => ({
      became: type.split('.').at(-1)!,
      subject,
    }))
    for (const [object, became] of some) {
      const heard = told.filter(one => one.subject === object && one.became !== 'before_end').map(one => one.became)
      this.#one.same(`what is told of ${object}`, heard, became)
    }
  }
}

/** So many are asked for in one request. */
const OBJECTS = 20

interface Options {
  /** The name of the check. */
  check: string
  until: number
  pauseMs: number
}

/** Plays one episode after the other. */
export function episodes({ check, until, pauseMs }: Options, play: (one: Knowing) => Promise<void>): Actor {
  return async (service, chance, told) => {
    while (service.now() < until) {
      try {
        await play(new Knowing(service, chance, check, told))
      } catch (error) {
        if (!(error instanceof Uncertain)) throw error
      }
      await service.sleep(chance.int(pauseMs))
    }
  }
}
