// A client of one BMC: its login, repetitions while it is busy or away, ETags and tasks. Nodes behind one BMC share it.
import { setTimeout as sleep } from 'node:timers/promises'
import { countdown } from '../../../clock/countdown.ts'
import { limits } from '../../../shared/limits.ts'
import type { Json } from '../port.ts'
import { BmcAway, BmcRefusal } from './bmc.ts'
import { Login } from './login.ts'
import type { Access } from './settings.ts'
import { type Method, type Reply, Wire } from './wire.ts'
import { abortedBy, codeOf, hostOf, isBeforeSending, isLasting, refusal } from './words.ts'

/** Limits of time; tests set them shorter. */
export interface Pace {
  readonly connectMs: number
  /** For one try: of a GET, PATCH or DELETE, and of a POST. */
  readonly readMs: number
  readonly postMs: number
  /** For a request with its repetitions. */
  readonly requestMs: number
  readonly tries: number
  readonly pauseMs: number
  readonly taskMs: number
  readonly taskPollMs: number
  /** After so long without a request it logs out. */
  readonly idleMs: number
}

export const PACE: Pace = {
  connectMs: limits.redfishConnectMs,
  readMs: limits.redfishReadMs,
  postMs: limits.redfishPostMs,
  requestMs: limits.redfishRequestMs,
  tries: limits.redfishTries,
  pauseMs: limits.redfishPauseMs,
  taskMs: limits.redfishTaskMs,
  taskPollMs: limits.redfishTaskPollMs,
  idleMs: limits.redfishIdleMs,
}

export interface Wanted {
  readonly method: Method
  readonly path: string
  readonly body?: Json | null
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** 1: for those who ask again by themselves. */
  readonly tries?: number
  /** Throws when nothing may be changed any more. */
  readonly requireLock?: () => Promise<void>
}

/** It restarts, or is busy with something else: Dell and HPE say so in these words, also with status 400. */
const NOT_READY = /SYS518|SWC0700|InvalidOperationForSystemState|ServiceTemporarilyUnavailable/

export class Client {
  readonly access: Access
  readonly pace: Pace
  readonly #wire: Wire
  readonly #login: Login
  /** Where things are; read once, and again after trouble. */
  #root: Promise<Reply> | null = null
  #stopping = new AbortController()
  #busy = 0
  #retired = false
  readonly systemPaths = new Map<string | null, string>()

  constructor(access: Access, pace: Pace) {
    this.access = access
    this.pace = pace
    this.#wire = new Wire(access, pace.connectMs)
    this.#login = new Login(access)
  }

  /** Throws a BmcRefusal unless the status says that it is done, or being done. */
  async request(wanted: Wanted): Promise<Reply> {
    this.#busy++
    try {
      const reply = await this.#authorized(wanted)
      if (reply.status < 200 || reply.status >= 300) throw refusal(this.access, reply, reply.tries)
      return reply
    } catch (error) {
      if (error instanceof BmcAway) this.#forgetPlaces()
      throw error
    } finally {
      this.#busy--
      if (this.#retired) void this.retire()
    }
  }

  /** The service root. It needs no login, but some BMCs ask for one. */
  async root(asking: Pick<Wanted, 'signal' | 'tries'>): Promise<Reply> {
    const open = await this.#awaited(this.#openRoot(asking.tries), asking.signal)
    return open.status === 200 ? open : this.request({ ...asking, method: 'GET', path: this.access.rootPath })
  }

  /** As everybody may read it; shared, so that it doesn't end with the one who began it. */
  #openRoot(tries: number | undefined): Promise<Reply> {
    if (this.#root) return this.#root
    const wanted = this.#alone({ method: 'GET', path: this.access.rootPath, tries })
    const reading = this.#patiently(wanted, {})
    reading.then(
      ({ status }) => (status === 200 ? null : (this.#root = null)),
      () => (this.#root = null),
    )
    return (this.#root = reading)
  }

  /** What is awaited goes on for others; who is aborted stops waiting for it. */
  #awaited<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = () => reject(abortedBy(signal, this.access, 'the login'))
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
    })
  }

  /** For no caller alone: it ends with this client. */
  #alone(asked: Omit<Wanted, 'signal' | 'tries'> & { tries: number | undefined }): Wanted & { isSafe: true } {
    return { ...asked, tries: asked.tries ?? this.pace.tries, signal: this.#stopping.signal, isSafe: true }
  }

  /** A session isn't lost with a connection: it is kept, because BMCs have few of them. */
  #forgetPlaces(): void {
    this.#root = null
    this.systemPaths.clear()
  }

  /** Nobody gets it any more, but some still use it: they finish first, and then it logs out. */
  async retire(): Promise<void> {
    this.#retired = true
    if (this.#busy === 0) await this.stop({ logoutMs: limits.redfishLogoutMs })
  }

  async stop({ logoutMs }: { logoutMs: number }): Promise<void> {
    this.#stopping.abort(new BmcAway(`The talk with the BMC at ${hostOf(this.access)} was ended.`))
    this.#stopping = new AbortController()
    if (logoutMs > 0) await this.#login.logout(this.#wire, Math.ceil(logoutMs))
    // Someone may have come back meanwhile; it is closed behind them, then.
    if (this.#busy === 0 || !this.#retired) await this.#wire.close()
  }

  async pause(ms: number, { method, path, signal }: Pick<Wanted, 'method' | 'path' | 'signal'>): Promise<void> {
    await sleep(ms, null, { signal }).catch(() => {
      throw abortedBy(signal, this.access, `${method} ${path}`)
    })
  }

  /** The login has repetitions of its own, so that those of the request aren't multiplied by them. */
  async #authorized(wanted: Wanted): Promise<Reply & { tries: number }> {
    for (let again = false; ; again = true) {
      const login = await this.#headerFor(wanted)
      const reply = await this.#patiently(wanted, login)
      const isRefused = reply.status === 401 || reply.status === 403
      if (!isRefused || again || !this.#login.forget(login)) return reply
      // A session that is refused this one thing is still alive, and BMCs have few of them.
      if (reply.status === 403) void this.#login.logout(this.#wire, limits.redfishLogoutMs, 'old')
    }
  }

  async #headerFor({ tries, signal }: Wanted): Promise<Record<string, string>> {
    const ask = (asked: Omit<Wanted, 'signal'>) => this.#patiently(this.#alone({ ...asked, tries }), {})
    const root = async () => {
      const { status, body } = await this.#openRoot(tries)
      return status === 200 ? body : null
    }
    for (let joined = 1; ; joined++) {
      const isAnothers = this.#login.isUnderway
      try {
        return await this.#awaited(this.#login.header(ask, root), signal)
      } catch (error) {
        // Whoever began it may have had less patience. A password that is refused is not tried again.
        const mayHelp = error instanceof BmcAway || (error instanceof BmcRefusal && error.status === 503)
        if (!mayHelp || !isAnothers || tries !== undefined || signal.aborted || joined >= this.pace.tries) throw error
      }
    }
  }

  /** Asks again while it may help, and does no harm. */
  async #patiently(
    wanted: Wanted & { isSafe?: boolean },
    login: Readonly<Record<string, string>>,
  ): Promise<Reply & { tries: number }> {
    const { method, path, signal, tries = this.pace.tries, isSafe = false } = wanted
    const { pauseMs, postMs, readMs, requestMs } = this.pace
    const tryMs = method === 'POST' && !isSafe ? postMs : readMs
    const budgetMs = Math.max(requestMs, tryMs)
    const left = countdown(budgetMs)
    const asked = { method, path, signal, body: wanted.body ?? null, headers: { ...wanted.headers, ...login } }
    for (let tried = 1; ; tried++) {
      const mayWait = (ms: number) => tried < tries && ms < left()
      if (method !== 'GET') await wanted.requireLock?.()
      try {
        const leftMs = Math.max(1, Math.ceil(left()))
        const ms = Math.min(tryMs, leftMs)
        const reply = await this.#wire.ask({ ...asked, ms, toldMs: budgetMs - leftMs + ms })
        const waitMs = pauseAfter(reply, method, pauseMs)
        if (waitMs === null || !mayWait(waitMs)) return { ...reply, tries: tried }
        await this.pause(waitMs, wanted)
      } catch (error) {
        if (!(error instanceof BmcAway) || !mayRepeat(error, wanted) || !mayWait(pauseMs)) throw error
        await this.pause(pauseMs, wanted)
      }
    }
  }
}

/** Milliseconds until it may be asked again; null: this is its answer. */
function pauseAfter(reply: Reply, method: Method, pauseMs: number): number | null {
  const { status, text } = reply
  const isBusy = status === 503 || ((status === 400 || status >= 500) && NOT_READY.test(text))
  const isPassing = method === 'GET' && status >= 500 && status !== 501
  if (!isBusy && !isPassing) return null
  return Math.min(retryAfterMs(reply) ?? pauseMs, limits.redfishRetryAfterMsMax)
}

/** A date is rare, and needs a clock that is right: then the usual pause must do. */
export function retryAfterMs(reply: Reply): number | null {
  const value = reply.header('retry-after')
  return value !== null && /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : null
}

/** A POST that may have been heard is not said twice: it could reset a machine again. */
function mayRepeat(error: BmcAway, { method, isSafe }: Wanted & { isSafe?: boolean }): boolean {
  const code = codeOf(error.cause)
  if (isLasting(code)) return false
  return method !== 'POST' || isSafe === true || isBeforeSending(code)
}

/** Whether the login was refused: then the next one begins anew. */
export const isAccessError = (error: unknown) => error instanceof BmcRefusal && [401, 403].includes(error.status)
