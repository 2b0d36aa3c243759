// Reaches a server step by step: name, TCP connection, TLS, HTTP answer.
import { once } from 'node:events'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { systemClock } from '../../clock/clock.ts'
import { type Finding, ok, wrong } from './examine.ts'
import { judgeCertificate } from './judgement.ts'

const CONNECT_MS_MAX = 5_000
const ANSWER_MS_MAX = 10_000

interface Place {
  host: string
  port: number
}

export function placeOf(url: string): Place {
  const { hostname, port, protocol } = new URL(url)
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  }
}

export const isAddress = (url: string) => isIP(placeOf(url).host) !== 0

const HINTS: Record<string, string> = {
  ECONNREFUSED: 'start it (holdfast serve), or say with --url where it is',
  ETIMEDOUT: 'a firewall may be in the way, or the machine is down',
  EHOSTUNREACH: 'look at the network between here and there',
  ENETUNREACH: 'look at the network of this machine',
}

export async function knock(url: string): Promise<Finding> {
  const place = placeOf(url)
  const socket = connectTcp({ ...place, timeout: CONNECT_MS_MAX })
  socket.once('timeout', () => socket.destroy(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })))
  try {
    await once(socket, 'connect')
    return ok(`${place.host} port ${place.port} answers`)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const said = code === 'ECONNREFUSED' ? 'nothing listens there' : message
    return wrong(`${place.host} port ${place.port}: ${said}`, HINTS[code] ?? null)
  } finally {
    socket.destroy()
  }
}

export async function shakeHands(url: string, now: number): Promise<Finding> {
  const { host, port } = placeOf(url)
  // The socket accepts any certificate; judgeTls checks it, to say exactly what is wrong.
  const name = isAddress(url) ? {} : { servername: host }
  const socket = connectTls({ host, port, ...name, rejectUnauthorized: false, timeout: CONNECT_MS_MAX })
  socket.once('timeout', () => socket.destroy(new Error('no answer in time')))
  try {
    await once(socket, 'secureConnect')
    return judgeTls(socket, now)
  } catch (error) {
    const isPlain = (error as Error).message.includes('wrong version number')
    if (isPlain) return wrong(`port ${port} doesn't speak TLS`, 'use http:// instead of https://')
    return wrong(`TLS: ${(error as Error).message.split('\n', 1)[0]}`, null)
  } finally {
    socket.destroy()
  }
}

function judgeTls(socket: TLSSocket, now: number): Finding {
  const { valid_from: from, valid_to: until } = socket.getPeerCertificate()
  const dates = judgeCertificate(Date.parse(from), Date.parse(until), now)
  if (dates.grade === 'wrong' || socket.authorized) {
    return { ...dates, found: `${socket.getProtocol()}, ${dates.found}` }
  }
  const reason = String(socket.authorizationError)
  const hint = reason.includes('ALTNAME')
    ? 'use a name that the certificate is for'
    : 'name the certificate to trust with --os-cacert, or cacert in clouds.yaml'
  return wrong(`the certificate isn't trusted: ${reason}`, hint)
}

export interface Answer {
  status: number
  headers: Headers
  /** undefined if it is not JSON. */
  body: unknown
  sentAt: number
  receivedAt: number
}

export async function ask(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const sentAt = systemClock.now()
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    const receivedAt = systemClock.now()
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: parsed(text), sentAt, receivedAt }
  } catch (error) {
    // fetch only says "fetch failed"; the reason is in the cause.
    const { message, cause } = error as Error
    throw new Error(`${url}: ${cause instanceof Error ? cause.message : message}`, { cause: error })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
