// The fastify app that the APIs are mounted in: limits, request ids, admission, metrics.
import type { Socket } from 'node:net'
import cors from '@fastify/cors'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Identity } from '../identity/identity.ts'
import type { Metrics } from '../measure/metrics.ts'
import { limits } from '../shared/limits.ts'
import { Admission, type AdmissionSettings } from './admission.ts'
import { drainOnClose } from './drain.ts'
import { isAddress, trustOf } from './forwarded.ts'
import type { Streams } from './streams.ts'
import { sendTogether } from './together.ts'
import { asksForSocket, takeUpgrades } from './upgrades.ts'
import { readPair, type TlsFiles } from './tls.ts'
import { loggedUrl } from './logged-url.ts'

interface HttpSettings extends AdmissionSettings, TlsFiles {
  trustForwarded: string
  lingerMs: number
  keystoneUrl: string | null
}

interface HttpOptions {
  config: HttpSettings
  clock: { newUuid(): string }
  identity: Identity
  streams: Streams
  metrics: Metrics
  log: Logger
}

/** `tokensAt` is the path where we issue tokens ourselves; `plainUrl` makes one URL of several spellings. */
export async function createHttp(
  context: HttpOptions,
  { tokensAt, plainUrl }: { tokensAt: string; plainUrl: (url: string) => string },
): Promise<{ app: FastifyInstance; admission: Admission }> {
  const { config, clock } = context
  const pair = readPair(config)
  const server = {
    maxHeaderSize: limits.headerBytesMax,
    connectionsCheckingInterval: limits.requestCheckMs,
    shouldUpgradeCallback: asksForSocket,
  }
  const app = Fastify({
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestMsMax,
    // Links use the host that the client called; a trusted proxy may tell us which host that was.
    trustProxy: trustOf(config.trustForwarded),
    ...(pair ? { https: { ...server, ...pair, requestCert: pair.ca !== undefined } as never } : { http: server }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: () => `req-${clock.newUuid()}`,
    // Handlers parse the query themselves: a repeated key means something different in each.
    routerOptions: { maxParamLength: limits.urlBytesMax, querystringParser: () => ({}) },
    rewriteUrl: ({ url = '' }) => plainUrl(url),
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerBadUrl,
  })
  const { identity, metrics } = context
  const redeem = (ticket: string) => identity.tickets.redeem(ticket)
  const admission = new Admission({ config, authenticate: identity.authenticate, redeem, metrics })
  app.decorateRequest('caller', null)
  app.decorateRequest('ticket', null)
  app.decorateRequest('held', null)
  app.decorateRequest('options', null)
  const draining = drainOnClose(app, config.lingerMs)
  sendTogether(app.server)
  const trustsProxies = config.trustForwarded !== '0'
  // One hook, because each costs every request.
  app.addHook('onRequest', (request, reply, next) => {
    // If a proxy forwards something that is no address, the proxy's own address counts.
    if (trustsProxies && !isAddress(request.ip)) delete request.raw.headers['x-forwarded-for']
    void reply.header('x-openstack-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (pair) void reply.header('strict-transport-security', HSTS)
    admission.arrive(request, reply)
    draining.refuse()
    next()
  })
  app.addHook('preParsing', admission.beforeBody)
  app.addHook('onSend', (request, reply, _payload, sent) => {
    if (reply.statusCode === 401) void reply.header('www-authenticate', challenge(context, request, tokensAt))
    draining.tell(reply)
    sent()
  })
  takeUpgrades(app)
  app.addHook('preClose', done => {
    context.streams.drain()
    done()
  })
  app.addHook('onResponse', (request, reply, next) => {
    measure(context, request, reply)
    next()
  })
  if (config.corsOrigin !== null) {
    await app.register(cors, { origin: [config.corsOrigin], optionsSuccessStatus: 200, strictPreflight: false })
  }
  return { app, admission }
}

const HSTS = `max-age=${180 * 24 * 60 * 60}`

/** Tells a refused client how to authenticate: by password if it tried one, else where to get a token. */
function challenge({ config, identity }: HttpOptions, request: FastifyRequest, tokensAt: string): string {
  if (request.headers.authorization !== undefined && identity.issuer) return 'Basic realm="holdfast"'
  return `Keystone uri="${config.keystoneUrl ?? `${request.protocol}://${request.host}${tokensAt}`}"`
}

function measure({ metrics, log }: HttpOptions, request: FastifyRequest, reply: FastifyReply): void {
  // How long a stream lasted says nothing of how quick we are.
  const { statusCode: status, elapsedTime: ms } = reply
  if (isLasting(request, reply) && status < 400) return
  const { method, route } = seriesOf(request, status)
  metrics.request(method, route, status, ms / 1_000)
  if (ms > limits.slowRequestMs) {
    const { id, method } = request
    const url = loggedUrl(request.originalUrl)
    log.warn({ request: id, method, url, status, ms: Math.round(ms) }, 'slow request')
  }
}

const isLasting = ({ options }: FastifyRequest, reply: FastifyReply) =>
  options!.config.lasts || reply.getHeader('content-type') === 'text/event-stream'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Strangers must not add metric series: a 401 or 405 is counted by API, and an unknown URL as 'unknown'. */
function seriesOf({ method, options }: FastifyRequest, status: number): { method: string; route: string } {
  const { url } = options!
  const isStranger = status === 401 || status === 405
  return {
    method: METHODS.has(method) ? method : 'other',
    route: url === undefined ? 'unknown' : isStranger ? `/${url.split('/')[1]}/*` : url,
  }
}

const BAD_REQUEST = 'The server could not comply with the request since it is either malformed or otherwise incorrect.'

function errorBody(status: number, title: string, reason: string, requestId?: string): string {
  const error = { status, title, detail: `${BAD_REQUEST}\n\n ${reason}  `, ...(requestId && { request_id: requestId }) }
  return JSON.stringify({ errors: [error] })
}

/** If Node can't parse the HTTP, fastify gets no request, so we answer on the bare socket. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, title, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ([431, 'Request Header Fields Too Large', 'the headers are too large'] as const)
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ([408, 'Request Timeout', 'the request took too long to arrive'] as const)
        : error.code === 'HPE_INVALID_CONTENT_LENGTH'
          ? ([400, 'Bad Request', 'content-length header must be an integer'] as const)
          : ([400, 'Bad Request', 'the request is not HTTP'] as const)
  const body = errorBody(status, title, reason)
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  // end() closes only our half; a client that keeps its half open would keep the socket.
  setTimeout(() => socket.destroy(), limits.brokenLingerMs).unref()
}

/** A path that can't be decoded matches no route, so no API can answer it. */
function answerBadUrl(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  void reply
    .code(error.statusCode ?? 400)
    .header('x-openstack-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('content-type', 'application/json')
    .send(
      Buffer.from(
        errorBody(error.statusCode ?? 400, 'Bad Request', 'the path of the URL can not be decoded', request.id),
      ),
    )
}
