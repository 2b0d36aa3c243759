// The service as its clients see it: requests travel, wait for a process, and their answers may never come.
import type { Stream } from './chance.ts'
import type { Answer, Finding, Request, Service } from './port.ts'
import type { History } from './history.ts'
import type { Process } from './processes.ts'
import { Owner, type World } from './world.ts'

/** So long a client waits for an answer. */
const PATIENCE_MS = 20_000
/** So long it takes a client to see that nobody is there: who asks again at once costs time and shows nothing. */
const REFUSED_MS = 200

interface ServiceOptions {
  world: World
  chance: Stream
  history: History
  processes: readonly Process[]
  told: (finding: Finding) => void
  /** Nothing is away. */
  isCalm: boolean
}

export class SimulatedService implements Service {
  readonly owner: Owner
  readonly #options: ServiceOptions
  readonly #chance: Stream
  #requests = 0
  #hushedUntil = 0

  constructor(options: ServiceOptions) {
    this.#options = options
    this.#chance = options.chance.stream('travel')
    this.owner = new Owner('clients', options.chance.stream('clients'))
  }

  now(): number {
    return this.#options.world.now
  }

  /** Whoever sleeps, sleeps on until then. */
  hushUntil(at: number): void {
    this.#hushedUntil = at
  }

  sleep(ms: number): Promise<void> {
    const { world } = this.#options
    return new Promise(resolve => {
      const wake = () => {
        if (world.now >= this.#hushedUntil) resolve()
        else world.at(this.#hushedUntil, this.owner, wake)
      }
      world.after(ms, this.owner, wake)
    })
  }

  send(request: Request, process?: number): Promise<Answer | null> {
    const { world, history, processes } = this.#options
    const name = `request ${++this.#requests}`
    const able = processes.filter(({ role }) => role !== 'conductor')
    const target = process === undefined ? this.#chance.pick(able) : able[process % able.length]!
    history.add(
      'clients',
      `${name} to ${target.name}: ${request.method} ${request.url} ${JSON.stringify(request.body) ?? ''}`,
    )
    return new Promise(resolve => {
      let isOver = false
      const end = (answer: Answer | null) => {
        if (isOver) return
        isOver = true
        forget()
        history.add(
          'clients',
          `${name}: ${answer === null ? 'no answer' : `${answer.status} ${JSON.stringify(answer.body)}`}`,
        )
        this.#judge(request, answer)
        resolve(answer)
      }
      const back = (answer: Answer | null) => void world.after(this.#travel(), this.owner, () => end(answer))
      const forget = target.onDeath(() => back(null))
      world.after(PATIENCE_MS, this.owner, () => end(null))
      world.after(this.#travel(), target.owner, () => {
        if (target.app) this.#inject(target, request, back)
        else back(null)
      })
      if (target.owner.isDead) world.after(REFUSED_MS, this.owner, () => back(null))
    })
  }

  #inject(
    { app, owner }: Process,
    { method, url, headers, body }: Request,
    back: (answer: Answer | null) => void,
  ): void {
    const sent = {
      method,
      url,
      headers: { 'x-auth-token': 'admin', ...headers },
      ...(body !== undefined && { payload: body as object }),
    }
    app!.inject(sent).then(
      ({ statusCode: status, headers, payload }) =>
        // It may die in the middle of the event that would have answered.
        owner.isDead || back({ status, headers: headers as Answer['headers'], body: readable(payload) }),
      () => back(null),
    )
  }

  #travel(): number {
    return 0.05 + this.#chance.float() ** 3 * 5
  }

  #judge({ method, url }: Request, answer: Answer | null): void {
    const { told, isCalm } = this.#options
    if (!answer || answer.status < 500 || (answer.status === 503 && !isCalm)) return
    told({
      check: answer.status === 503 ? 'no 503 in the calm' : 'no 5xx but 503',
      text: `${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`,
    })
  }
}

function readable(payload: string): unknown {
  if (payload === '') return null
  try {
    return JSON.parse(payload) as unknown
  } catch {
    return payload
  }
}
