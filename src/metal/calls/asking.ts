// Asks machines, from any process: writes the question down, wakes the conductors, and waits for the answer.
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import { Runner } from '../../shared/runner.ts'
import type { Bell } from '../../store/bell.ts'
import type { CallId } from '../../store/schema/ids.ts'
import type { Store } from '../../store/store.ts'
import { wake, type Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import { called } from '../called.ts'
import { requireLiveConductor } from '../conductors/rows.ts'
import { type AnswerTo, CHANGING, type Question, type QuestionName, type QuestionOf } from '../drivers/questions.ts'
import { findNode } from '../nodes/rows.ts'
import { startCall } from './changing.ts'
import { wordsOf } from './driver-asked.ts'
import { addCall, answersTo, type CallAnswer, openCalls } from './rows.ts'

interface AskingOptions {
  store: Store
  bell: Bell
  /** A conductor without a heartbeat for so long is not waited for. */
  silentMs: number
}

interface Asked {
  /** Of the request, which may write into the audit. */
  store: Store
  node: string
  access: Access
  request?: string
  /** How long to wait. */
  ms?: number
}

type Waiter = (answer: CallAnswer | 'gone' | null) => void

export class Calls {
  readonly #options: AskingOptions
  readonly #waiters = new Map<CallId, Waiter>()
  readonly #looking: Runner
  #timer: NodeJS.Timeout | null = null

  constructor(options: AskingOptions) {
    this.#options = options
    // While the database is away, whoever waits goes on waiting.
    this.#looking = new Runner(
      () => this.#look(),
      () => {},
    )
    options.bell.listen(topic => {
      if ((topic === 'answers' || topic === 'any') && this.#waiters.size > 0) void this.#looking.run()
    })
  }

  /** The machine's answer. A failure is a problem with its reason; so is a conductor that doesn't answer in time. */
  async ask<Name extends QuestionName>(question: QuestionOf<Name>, asked: Asked): Promise<AnswerTo<Name>> {
    const { ms = limits.callMsMax, store } = asked
    const { silentMs } = this.#options
    const { id, node } = await store.write(() =>
      placed(question as Question, { ...asked, ms, silentMs, isAwaited: true }),
    )
    const given = await this.#waitFor(id, ms)
    if (given === 'gone') throw problem('metal_not_found', { what: 'Node', name: node })
    if (given === null) {
      const isChange = CHANGING.has(question.name)
      throw problem('machine_silent', { node, what: wordsOf(question), seconds: ms / 1_000, isChange })
    }
    if ('failure' in given) throw problem('machine_failed', { node, what: wordsOf(question), reason: given.failure })
    return given.answer
  }

  /** Has the machine changed, without waiting for it. A failure is the node's last_error. */
  async order(question: Question, asked: Omit<Asked, 'ms'>): Promise<void> {
    const terms = { ...asked, ms: limits.callMsMax, silentMs: this.#options.silentMs, isAwaited: false }
    await asked.store.write(() => placed(question, terms))
  }

  stop(): void {
    for (const waiter of this.#waiters.values()) waiter(null)
  }

  #waitFor(id: CallId, ms: number): Promise<CallAnswer | 'gone' | null> {
    const { promise, resolve } = Promise.withResolvers<CallAnswer | 'gone' | null>()
    const end = setTimeout(() => resolve(null), ms)
    this.#waiters.set(id, resolve)
    this.#timer ??= setInterval(() => void this.#looking.run(), limits.callPollMs).unref()
    // The answer may have come before anyone waited for it.
    void this.#looking.run()
    return promise.finally(() => {
      clearTimeout(end)
      this.#waiters.delete(id)
      if (this.#waiters.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    })
  }

  async #look(): Promise<void> {
    const ids = [...this.#waiters.keys()]
    if (ids.length === 0) return
    for (const [id, answer] of await this.#options.store.read(() => answersTo(ids))) {
      if (answer !== 'open') this.#waiters.get(id)?.(answer)
    }
  }
}

type Terms = Omit<Asked, 'store' | 'ms'> & { ms: number; silentMs: number; isAwaited: boolean }

function* placed(question: Question, { node: ident, ...terms }: Terms): Write<{ id: CallId; node: string }> {
  if (CHANGING.has(question.name)) return yield* startCall(question, { ident, ...terms })
  const { access, silentMs, ms } = terms
  const node = yield* findNode(ident, access)
  yield* requireLiveConductor(node.driver, node.conductor_group, silentMs)
  if ((yield* openCalls(node.id)) >= limits.callsPerNodeMax) {
    throw problem('machine_crowded', { node: called(node), count: limits.callsPerNodeMax })
  }
  const id = yield* addCall(node.id, question, ms)
  yield* wake('calls')
  return { id, node: called(node) }
}
