// Describes Placement for the frame.
import { problem } from '../../problems/problem.ts'
import {
  callerMay,
  methodIsThere,
  namesAreNotEmpty,
  uriHasNoNul,
  uriIsShort,
  versionHasIt,
  versionIsKnown,
} from '../frame/checks.ts'
import { type Check, type Dialect, JSON_TYPE, TOKEN } from '../frame/dialect.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { mediaTypeFits, mediaTypeFitsFirst } from './media-types.ts'
import { BULK, routes } from './routes.ts'
import { negotiate, VERSION_HEADER, type Word } from './versions.ts'

const bodyHasType: Check<Word> = ({ raw: { headers } }) => {
  if (Number(headers['content-length'] ?? 0) > 0 && !headers['content-type']) {
    throw problem('malformed_request', { reason: 'content-type header required when content-length > 0' })
  }
}

const AT_THE_ROOT = new RegExp(`^${PREFIXES.placement}/?([?#]|$)`)

export const placement: Dialect<Word> = {
  prefix: PREFIXES.placement,
  below: '',
  routes,
  checks: {
    everywhere: [TOKEN, versionIsKnown, uriIsShort, uriHasNoNul('the URL holds NUL'), bodyHasType],
    beforeHandler: [namesAreNotEmpty, methodIsThere, mediaTypeFitsFirst, versionHasIt, mediaTypeFits, callerMay],
  },
  negotiate: headers => negotiate(headers[VERSION_HEADER]),
  // The version document is for everyone.
  isOpen: ({ raw }) => AT_THE_ROOT.test(raw.url) && !raw.is404,
  bulk: BULK,
  shapeFirst: true,
  // As upstream: of some all values count, of others the first. The parsers know what each version does.
  mayRepeat: /^(required|member_of|same_subtree$|limit$|group_policy$)/,
  type: JSON_TYPE,
  caching: 'cacheHeaders',
  render: renderError,
}
