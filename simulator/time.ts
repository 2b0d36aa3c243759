// Time and chance of the simulated processes: replaces timers, clocks and random numbers of this real process. While no
// simulated code runs, all of them are the real ones. Must be loaded before anything that keeps a timer function.
import crypto from 'node:crypto'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import './virtual-sqlite.ts'
import { type Owner, real, type World } from './world.ts'

const require = createRequire(import.meta.url)
const timers = require('node:timers') as Record<string, unknown>
const timerPromises = require('node:timers/promises') as Record<string, unknown>

let world: World | null = null

/** From now on simulated code lives in this world; null for none. */
export function setWorld(next: World | null): void {
  world = next
}

const here = (): { world: World; owner: Owner } | null => (world?.current ? { world, owner: world.current } : null)

type Work = (...args: unknown[]) => void

class VirtualTimer {
  #cancel: () => void = () => {}
  readonly #start: () => () => void

  constructor(start: (timer: VirtualTimer) => () => void) {
    this.#start = () => start(this)
    this.refresh()
  }

  refresh(): this {
    this.#cancel()
    this.#cancel = this.#start()
    return this
  }

  close(): void {
    this.#cancel()
  }

  ref = () => this
  unref = () => this
  hasRef = () => false;
  [Symbol.dispose] = () => this.close()
}

const lasting = (ms: unknown) => {
  const number = Number(ms)
  return number >= 1 && number <= 2 ** 31 - 1 ? number : 1
}

function timeout(work: Work, ms?: unknown, ...args: unknown[]): unknown {
  const place = here()
  if (!place) return real.setTimeout(work, ms as number, ...args)
  return new VirtualTimer(() => place.world.after(lasting(ms), place.owner, () => work(...args)))
}

const realInterval = setInterval
function interval(work: Work, ms?: unknown, ...args: unknown[]): unknown {
  const place = here()
  if (!place) return realInterval(work, ms as number, ...args)
  return new VirtualTimer(timer =>
    place.world.after(lasting(ms), place.owner, () => {
      timer.refresh()
      work(...args)
    }),
  )
}

function immediate(work: Work, ...args: unknown[]): unknown {
  const place = here()
  if (!place) return real.setImmediate(work, ...args)
  const { world, owner } = place
  // A turn of the event loop: some microseconds, and in order.
  owner.immediateAt = Math.max(owner.immediateAt, world.now + 0.005)
  return new VirtualTimer(() => world.at(owner.immediateAt, owner, () => work(...args)))
}

const clearing = (clear: (timer: never) => void) => (timer: unknown) =>
  timer instanceof VirtualTimer ? timer.close() : clear(timer as never)

interface SleepOptions {
  signal?: AbortSignal
}

function promised(start: (work: () => void) => unknown, value: unknown, { signal }: SleepOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      ;(timer as VirtualTimer | undefined)?.close()
      reject(
        Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), {
          name: 'AbortError',
          code: 'ABORT_ERR',
        }),
      )
    }
    let timer: unknown
    if (signal?.aborted) return abort()
    timer = start(() => {
      signal?.removeEventListener('abort', abort)
      resolve(value)
    })
    signal?.addEventListener('abort', abort, { once: true })
  })
}

const realSleep = timerPromises['setTimeout'] as (...args: unknown[]) => Promise<unknown>
const realTurn = timerPromises['setImmediate'] as (...args: unknown[]) => Promise<unknown>

const sleep = (ms?: unknown, value?: unknown, options: SleepOptions = {}) =>
  here() ? promised(work => timeout(work, ms), value, options ?? {}) : realSleep(ms, value, options)
const turn = (value?: unknown, options: SleepOptions = {}) =>
  here() ? promised(work => immediate(work), value, options ?? {}) : realTurn(value, options)

/** Of whoever runs now: its wall clock may be wrong. */
const now = () => (world?.current ? Math.floor(world.now + world.current.skewMs) : real.Date.now())

class VirtualDate extends real.Date {
  constructor(...args: unknown[]) {
    // @ts-expect-error -- any arguments that Date takes
    super(...(args.length === 0 ? [now()] : args))
  }

  static override now = now
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === '[object Date]'
  }
}

const realCrypto = {
  randomUUID: crypto.randomUUID,
  randomBytes: crypto.randomBytes,
  randomInt: crypto.randomInt,
  randomFillSync: crypto.randomFillSync,
  getRandomValues: crypto.getRandomValues.bind(crypto),
}

function fill<T extends NodeJS.ArrayBufferView>(view: T, owner: Owner): T {
  const bytes = owner.chance.bytes(view.byteLength)
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(bytes)
  return view
}

const randomUUID = (...args: []) => here()?.owner.chance.uuid() ?? realCrypto.randomUUID(...args)
const getRandomValues = (view: NodeJS.ArrayBufferView) => {
  const place = here()
  return place ? fill(view, place.owner) : realCrypto.getRandomValues(view as Uint8Array<ArrayBuffer>)
}

const random = {
  randomUUID,
  randomFillSync: (view: Buffer, ...rest: number[]) => {
    const place = here()
    return place ? fill(view, place.owner) : realCrypto.randomFillSync(view, ...(rest as []))
  },
  randomBytes: (count: number, done?: (error: Error | null, bytes: Buffer) => void) => {
    const place = here()
    if (!place) return realCrypto.randomBytes(count, done!)
    const bytes = place.owner.chance.bytes(count)
    if (!done) return bytes
    return void immediate(() => done(null, bytes))
  },
  randomInt: (...args: [number, number?]) => {
    const place = here()
    if (!place) return realCrypto.randomInt(...(args as [number, number]))
    const [least, below] = args.length > 1 ? [args[0], args[1]!] : [0, args[0]]
    return least + place.owner.chance.int(below - least)
  },
}

const realNow = real.now
const realTimeoutSignal = AbortSignal.timeout.bind(AbortSignal)

function timeoutSignal(ms: number): AbortSignal {
  if (!here()) return realTimeoutSignal(ms)
  const late = new AbortController()
  timeout(() => late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms)
  return late.signal
}

const virtual = {
  setTimeout: timeout,
  setInterval: interval,
  setImmediate: immediate,
  clearTimeout: clearing(clearTimeout),
  clearInterval: clearing(clearInterval),
  clearImmediate: clearing(clearImmediate),
}

Object.assign(globalThis, virtual, { Date: VirtualDate })
Object.assign(timers, virtual)
Object.assign(timerPromises, { setTimeout: sleep, setImmediate: turn })
Object.assign(crypto, random)
Object.defineProperties(globalThis.crypto, {
  randomUUID: { value: randomUUID },
  getRandomValues: { value: getRandomValues },
})
performance.now = () => (world?.current ? world.now - STARTED : realNow())
const { timeOrigin } = performance
Object.defineProperty(performance, 'timeOrigin', { get: () => (world?.current ? STARTED : timeOrigin) })
const realRandom = Math.random
Math.random = () => here()?.owner.chance.float() ?? realRandom()
AbortSignal.timeout = timeoutSignal
syncBuiltinESMExports()

/** When virtual time begins. */
export const STARTED = Date.UTC(2026, 0, 5, 8)
