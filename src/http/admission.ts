// Admits requests before their body is read: there must be room, a known caller, and a body that isn't too large.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../identity/caller.ts'
import type { Authenticate, Redeem } from '../identity/identity.ts'
import { networkOf } from '../identity/networks.ts'
import { limits } from '../shared/limits.ts'
import type { Metrics } from '../measure/metrics.ts'
import { problem, type ProblemKind } from '../problems/problem.ts'
import { type PageSettings, requireJsonType, requireNoForeignPage } from './pages.ts'
import { requireOneHost } from './target.ts'
import { largeAnswers } from './pieces.ts'
import { Shares } from './shares.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; null until authenticated. */
    caller: Caller | null
    /** What a caller brings who can't send a token. */
    ticket: string | null
    /** What the request has of the shares; null until it has taken something. */
    held: Held[] | null
    /** Its `routeOptions`, which fastify makes anew whenever they are asked for; null until it has arrived. */
    options: FastifyRequest['routeOptions'] | null
  }
  interface FastifyContextConfig {
    /** Answers of this route may last, as a stream of events does. */
    lasts?: boolean
  }
}

/** An amount that a request has taken. */
interface Held {
  readonly shares: Shares
  readonly holder: string
  readonly amount: number
}

type Next = (error?: Error) => void
export type Hook = (request: FastifyRequest, reply: FastifyReply, next: Next) => void

export interface AdmissionSettings extends PageSettings {
  readonly requestsMax: number
  /** In percent. */
  readonly requestShare: number
}

interface AdmissionOptions {
  config: AdmissionSettings
  authenticate: Authenticate
  redeem: Redeem
  metrics: Metrics
}

export class Admission {
  readonly #config: AdmissionSettings
  readonly #authenticate: Authenticate
  readonly #redeem: Redeem
  readonly #ofAddresses: Shares
  readonly #ofFiles: Shares
  readonly #ofProjects: Shares
  readonly #bytes: Shares

  constructor({ config, authenticate, redeem, metrics }: AdmissionOptions) {
    const share = config.requestShare / 100
    this.#config = config
    this.#authenticate = authenticate
    this.#redeem = redeem
    this.#ofAddresses = new Shares({ max: config.requestsMax, share })
    this.#ofFiles = new Shares({ max: limits.uiFilesMax, share })
    this.#ofProjects = new Shares({ max: config.requestsMax, share })
    this.#bytes = new Shares({ max: limits.bodiesBytesMax, share })
    metrics.watch('holdfast_requests_in_flight', 'Requests that are being answered.', () => this.#ofAddresses.all)
    metrics.watch('holdfast_body_bytes_in_flight', 'Bytes of their bodies.', () => this.#bytes.all)
    metrics.watch('holdfast_large_answer_bytes', 'Bytes of large answers in memory.', () => largeAnswers.bytes)
    metrics.watch('holdfast_large_answers_waiting', 'Large answers that wait for room.', () => largeAnswers.waiting)
  }

  /** Comes first: refuses requests for two hosts, foreign pages, and requests that there is no room for. /healthz needs no room. */
  arrive(request: FastifyRequest, reply: FastifyReply): void {
    const options = (request.options = request.routeOptions)
    const { headers, rawHeaders } = request.raw
    requireOneHost({ url: request.originalUrl, headers, rawHeaders })
    requireNoForeignPage(this.#config, request)
    // A page takes many files at once, and must not take the places of requests for them.
    const places = options.config.isForFiles ? this.#ofFiles : this.#ofAddresses
    if (request.url !== '/healthz') take(places, `address ${networkOf(request.ip)}`, 1, reply)
  }

  /** A hook that authenticates the caller, refuses unknown callers, and then runs the other checks before the body. */
  asking(
    then: (request: FastifyRequest, reply: FastifyReply) => void = () => {},
    nobody: Nobody = 'unauthorized',
  ): Hook {
    return (request, reply, next) => {
      const admit = (caller: Caller | null) => {
        if (!caller) throw problem(nobody, {})
        request.caller = caller
        if (caller.project !== null) take(this.#ofProjects, caller.project, 1, reply)
        then(request, reply)
      }
      const caller = request.ticket === null ? this.#authenticate(request) : this.#callerWith(request.ticket, request)
      if (caller instanceof Promise) void settle(caller.then(admit), next)
      else {
        admit(caller)
        next()
      }
    }
  }

  /** Puts what the ticket stands for into the request, so that it can be checked again when the ticket is over. */
  async #callerWith(ticket: string, request: FastifyRequest): Promise<Caller | null> {
    const headers = await this.#redeem(ticket)
    if (headers === null) return null
    Object.assign(request.raw.headers, headers)
    return this.#authenticate(request)
  }

  /** The last hook before a body is read: a body for no route stays unread, and the others need room. */
  readonly beforeBody = (request: FastifyRequest, reply: FastifyReply, _body: unknown, next: Next): void => {
    const bytes = bodyBytes(request)
    if (bytes > 0) {
      if (request.is404) throw problem('route_not_found', {})
      take(this.#bytes, request.caller?.project ?? `address ${networkOf(request.ip)}`, bytes, reply)
    }
    next()
  }
}

/** For APIs that don't look at the type of a body themselves. */
export const jsonOnly =
  ({ config }: Pick<AdmissionOptions, 'config'>) =>
  (request: FastifyRequest, _reply: FastifyReply, _body: unknown, next: Next): void => {
    if (bodyBytes(request) > 0) requireJsonType(config, request.headers)
    next()
  }

type Nobody = ProblemKind & ('unauthorized' | 'not_authenticated')

/** The length that the headers give, or the longest allowed when they give none. */
function bodyBytes({ headers, options }: FastifyRequest): number {
  if (headers['transfer-encoding'] === undefined && headers['content-length'] === undefined) return 0
  const bytesMax = options!.bodyLimit ?? limits.bodyBytesMax
  return Math.min(Number(headers['content-length'] ?? bytesMax), bytesMax)
}

/** Gives back what the request took: an answer that lasts has a place elsewhere, and must not keep others out. */
export const leave = ({ request }: FastifyReply): void => giveBack(request)

function giveBack({ held }: FastifyRequest): void {
  for (const { shares, holder, amount } of held?.splice(0) ?? []) shares.giveBack(holder, amount)
}

/** Takes this amount until the answer is sent or the connection closes, or until the request leaves. */
function take(shares: Shares, holder: string, amount: number, { raw, request }: FastifyReply): void {
  // Already closed: no 'close' event would give the amount back.
  if (raw.closed) return
  const wanting = shares.take(holder, amount)
  if (wanting === 'all') throw problem('unavailable', { reason: 'Too much is being done at once; try again.' })
  if (wanting === 'share') throw problem('too_many_requests', { retrySeconds: limits.crowdedRetrySeconds })
  const mine = { shares, holder, amount }
  if (request.held) request.held.push(mine)
  else {
    // One listener for all that a request takes.
    request.held = [mine]
    raw.on('close', () => giveBack(request))
  }
}

async function settle(admission: Promise<void>, next: Next): Promise<void> {
  try {
    await admission
  } catch (error) {
    next(error as Error)
    return
  }
  next()
}
