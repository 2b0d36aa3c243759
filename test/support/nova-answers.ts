// What the test Nova answers: bodies and refusals, in the words of the real one.
import type { Caller } from './nova-holdfast.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- bodies are what clients send; a handler says what it wants of them
export type Body = any

export interface NovaRequest {
  method: string
  path: string
  /** What the route's pattern caught. */
  parts: string[]
  query: URLSearchParams
  body: Body
  /** 61 of 2.61. */
  version: number
  caller: Caller
}

export interface Answer {
  status: number
  body?: unknown
  headers?: Record<string, string>
}

const KEYS: Record<number, string> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
  501: 'notImplemented',
  503: 'serviceUnavailable',
}

export class Refusal extends Error {
  readonly answer: Answer

  constructor(status: number, message: string) {
    super(message)
    this.answer = { status, body: { [KEYS[status] ?? 'computeFault']: { code: status, message } } }
  }
}

export const noFlavor = (id: string) => new Refusal(404, `Flavor ${id} could not be found.`)
export const noServer = (id: string) => new Refusal(404, `Instance ${id} could not be found.`)
export const noPolicy = (rule: string) => new Refusal(403, `Policy doesn't allow ${rule} to be performed.`)
export const wrongState = (verb: string, id: string, attribute: string, state: string) =>
  new Refusal(409, `Cannot '${verb}' instance ${id} while it is in ${attribute} ${state}`)

/** What was not foreseen, as a program of Python says it. */
export const broken = (exception: string) =>
  new Refusal(
    500,
    `Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n<class '${exception}'>`,
  )

const TITLES: Record<number, string> = { 404: 'Not Found', 503: 'Service Unavailable' }
const WORDS: Record<number, string> = {
  404: 'The resource could not be found.<br /><br />\n\n\n',
  503: 'The server is currently unavailable. Please try again at a later time.<br /><br />\n\n\n',
}

/** What answers before Nova's own code does. */
export function bare(status: number): Answer {
  if (status === 401) {
    const message = 'The request you have made requires authentication.'
    return { status, body: { error: { code: 401, title: 'Unauthorized', message } } }
  }
  const title = TITLES[status] ?? 'Error'
  return { status, body: { message: WORDS[status] ?? title, code: `${status} ${title}`, title } }
}

/** The usual words of a failure with this status. */
export function failureOf(status: number): Answer {
  if (status === 403) return noPolicy('os_compute_api:os-flavor-manage:create').answer
  if (status === 500) return broken('oslo_db.exception.DBConnectionError').answer
  if (status in TITLES || status === 401) return bare(status)
  return new Refusal(status, 'The request failed.').answer
}

/** A page of rows, and the link to the next one. */
export function pageOf<Row>(
  rows: readonly Row[],
  request: NovaRequest,
  { idOf, pageMax, url }: { idOf: (row: Row) => string; pageMax: number; url: string },
): { rows: readonly Row[]; links: object[] } {
  const marker = request.query.get('marker')
  const from = marker === null ? 0 : rows.findIndex(row => idOf(row) === marker) + 1
  if (marker !== null && from === 0) throw new Refusal(400, `marker [${marker}] not found`)
  const limit = Math.min(Number(request.query.get('limit') ?? pageMax), pageMax)
  const page = rows.slice(from, from + limit)
  if (page.length < limit || page.length === 0) return { rows: page, links: [] }
  const next = new URLSearchParams(request.query)
  next.set('marker', idOf(page.at(-1)!))
  return { rows: page, links: [{ rel: 'next', href: `${url}${request.path}?${String(next)}` }] }
}
