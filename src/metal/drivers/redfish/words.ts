// What went wrong with a BMC, in words: what it said, and what to do about it.
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import { plainText } from '../../../shared/plain-text.ts'
import { BmcAway, BmcRefusal } from './bmc.ts'
import type { Access } from './settings.ts'

/** What was asked, and how it was answered. */
export interface Answered {
  readonly method: string
  readonly path: string
  readonly status: number
  /** Parsed; null when it isn't JSON. */
  readonly body: unknown
  readonly text: string
}

interface Message {
  id: string
  text: string
  severity: string
}

/** Cut off, because a text may be as long as an answer. */
export const textOf = (value: unknown) =>
  typeof value === 'string' ? plainText(value.slice(0, limits.redfishTextMax)).trim() : ''

/** The extended information: some BMCs leave out the list or the error around it. */
function messagesIn(body: unknown): Message[] {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : body
  const listed = isObject(error) ? [error['@Message.ExtendedInfo'] ?? []].flat() : []
  return listed.filter(isObject).map(entry => ({
    id: textOf(entry['MessageId']),
    text: textOf(entry['Message']),
    severity: textOf(entry['MessageSeverity']) || textOf(entry['Severity']),
  }))
}

/** MessageIds without their registry and version. */
export const messageIdsIn = (body: unknown): string[] =>
  messagesIn(body)
    .map(({ id }) => id.slice(id.lastIndexOf('.') + 1))
    .filter(id => id !== '')

/**
 * The first critical message, then the first warning, else the error's own; plain text as it is. A BMC may repeat what
 * it was sent, so the password is taken out.
 */
export function saidIn({ body, text }: Pick<Answered, 'body' | 'text'>, password: string | null): string {
  const messages = messagesIn(body).filter(({ text }) => text !== '')
  const worst = ['Critical', 'Warning'].flatMap(level => messages.filter(({ severity }) => severity === level))
  const error = isObject(body) && isObject(body['error']) ? body['error'] : body
  const own = isObject(error) ? textOf(error['message']) : ''
  // Most say only that the extended information says more.
  const isVague = own === '' || /general error|ExtendedInfo/i.test(own)
  const said = worst[0]?.text ?? (isVague ? (messages[0]?.text ?? own) : own)
  return shortened(withoutPassword(said !== '' || isObject(body) ? said : plainOf(text), password))
}

/** Without the tags of an HTML page. Only its beginning is looked at: tags that never end would take hours. */
const plainOf = (text: string) =>
  text
    .slice(0, limits.redfishTextMax)
    .replace(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

const shortened = (text: string) =>
  text.length > limits.redfishWordsMax ? `${text.slice(0, limits.redfishWordsMax)}…` : text

const withoutPassword = (text: string, password: string | null) =>
  password !== null && password.length > 2 ? text.replaceAll(password, '******') : text

export const hostOf = (access: Access) => new URL(access.origin).host

export function refusal(access: Access, answered: Answered, tries = 1): BmcRefusal {
  const said = saidIn(answered, access.password)
  const words = [refusalWords(access, answered, tries), said === '' ? '' : `It says: ${said}`]
  return new BmcRefusal(words.filter(part => part !== '').join(' '), {
    status: answered.status,
    messageIds: messageIdsIn(answered.body),
  })
}

function refusalWords(access: Access, { method, path, status }: Answered, tries: number): string {
  const bmc = `The BMC at ${hostOf(access)}`
  const { username } = access
  switch (status) {
    case 401:
      return username === null
        ? `${bmc} asks for a login: set redfish_username and redfish_password.`
        : `${bmc} refuses the login of user ${username}: check redfish_username and redfish_password.`
    case 403:
      return username === null
        ? `${bmc} asks for a login for ${method} ${path}: set redfish_username and redfish_password.`
        : `${bmc} does not allow user ${username} ${method} ${path}: the user needs more rights there.`
    case 404:
      return `${bmc} has no ${path}.`
    case 503:
      return `${bmc} is busy: it answers 503 to ${method} ${path}${tries > 1 ? `, after ${tries} tries` : ''}.`
    default:
      return `${bmc} answers ${status} to ${method} ${path}${tries > 1 ? `, after ${tries} tries` : ''}.`
  }
}

const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET|DECODE|DECRYPT)|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH/
const NOBODY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refuses the connection',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to its network',
  EHOSTDOWN: 'the host is down',
}

/** The code of a failure to connect or to read. Several addresses of one name may have failed each for itself. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  if (!(error instanceof Error)) return ''
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string' && code !== '') return code
  return error.cause === undefined ? '' : codeOf(error.cause)
}

export const late = (access: Access, asked: string, ms: number) =>
  new BmcAway(`The BMC at ${hostOf(access)} gave no answer to ${asked} in ${seconds(ms)} s.`)

/** A caller's time limit is told as such; any other reason is the caller's own. */
export function abortedBy(signal: AbortSignal, access: Access, asked: string): Error {
  const reason: unknown = signal.reason
  const isLate = reason instanceof DOMException && reason.name === 'TimeoutError'
  return isLate ? new BmcAway(`The BMC at ${hostOf(access)} gave no answer to ${asked} in time.`) : (reason as Error)
}

const seconds = (ms: number) => Math.round(ms / 100) / 10

/** Nothing was sent yet, so that anything may be sent again. */
export const isBeforeSending = (code: string) =>
  code === 'UND_ERR_CONNECT_TIMEOUT' || code in NOBODY || code === 'ENOTFOUND' || code === 'EAI_AGAIN'

/** Asking again changes nothing: somebody must change a setting or a certificate first. */
export const isLasting = (code: string) =>
  UNTRUSTED.test(code) || isTls(code) || code === 'ENOTFOUND' || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE'

const isTls = (code: string) => code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')

interface Broken {
  readonly asked: string
  readonly error: unknown
  readonly connectMs: number
}

export function away(access: Access, broken: Broken): BmcAway {
  return new BmcAway(awayWords(access, broken), { cause: broken.error })
}

function awayWords(access: Access, { asked, error, connectMs }: Broken): string {
  const [bmc, code] = [`the BMC at ${hostOf(access)}`, codeOf(error)]
  const reason = error instanceof Error ? error.message : String(error)
  if (UNTRUSTED.test(code)) {
    return `The certificate of ${bmc} is not trusted (${reason}): set redfish_verify_ca to the file of the CA’s certificate.`
  }
  if (isTls(code)) {
    return `No TLS with ${bmc} (${code}): check that redfish_address should not begin with http://, and redfish_tls_minimum_version and redfish_tls_ciphers.`
  }
  if (code in NOBODY) return `Nobody answers at ${hostOf(access)}: ${NOBODY[code]}.`
  switch (code) {
    case 'ENOTFOUND':
      return `Nobody knows the name of ${bmc}: check redfish_address.`
    case 'EAI_AGAIN':
      return `No name server says where ${bmc} is.`
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `Nobody answers at ${hostOf(access)}: no connection in ${seconds(connectMs)} s.`
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return `The answer to ${asked} from ${bmc} is too large.`
    default:
      return `The connection to ${bmc} broke during ${asked} (${code === '' ? reason : code}).`
  }
}
