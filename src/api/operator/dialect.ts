// Describes the operator API for the frame.
import { problem } from '../../problems/problem.ts'
import { callerMay, methodIsThere, uriHasNoNul } from '../frame/checks.ts'
import { type Check, type Dialect, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { BULK, routes } from './routes.ts'

const isNotForTests: Check = ({ route, context: { config } }) => {
  if (route?.isForTests && !config.testClock) throw problem('route_not_found', {})
}

const hasNoNul = uriHasNoNul('the URL holds NUL')
const hasNoNulUnlessOpen: Check = (request, reply) => {
  if (!request.route?.isOpen) hasNoNul(request, reply)
}

/**
 * Only for what lasts: the URL of a stream is used once, and isn't kept. Whoever sends a token needs no ticket. A page
 * names the protocols of its web socket, and the ticket goes with them: there it is in no URL, and in no log of a proxy.
 */
const ticketIsTaken: Check = ({ route, raw }) => {
  if (!route?.lasts || raw.headers['x-auth-token'] !== undefined) return
  raw.ticket = route.isSocket
    ? ticketIn(raw.headers['sec-websocket-protocol'])
    : new URLSearchParams(raw.url.split('?')[1]).get('ticket')
}

const ticketIn = (protocols = '') => /(?:^|,)\s*ticket\.([\w-]+)/.exec(protocols)?.[1] ?? null

export const operator: Dialect = {
  prefix: PREFIXES.operator,
  below: '',
  routes,
  isPartOfRoot: true,
  headIsGet: true,
  checks: {
    everywhere: [],
    beforeBody: [ticketIsTaken, TOKEN],
    beforeHandler: [isNotForTests, methodIsThere, hasNoNulUnlessOpen, callerMay],
  },
  isOpen: ({ route }) => route?.isOpen ?? false,
  ownProject: true,
  bulk: BULK,
  jsonBodies: true,
  type: JSON_UTF8,
  render: renderError,
}
