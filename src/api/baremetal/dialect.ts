// Describes bare metal for the frame.
import { problem } from '../../problems/problem.ts'
import {
  callerMay,
  jsonIsAccepted,
  methodIsThere,
  namesHaveNoNul,
  saysId,
  uriIsShort,
  versionHasIt,
  versionIsKnown,
} from '../frame/checks.ts'
import { type Dialect, JSON_TYPE, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { PREFIXES, VERSION_PATHS } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { showRoot } from './root.ts'
import { BULK, routes } from './routes.ts'
import { negotiate, VERSION_HEADER, type Word } from './versions.ts'

const noSuchName = () => problem('invalid_name_in_path', { what: 'a resource', name: '' })

/** As old clients spell these: the node comes last. No node can be called `states`. For the first see spelling.ts. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  '/nodes/:ident': ['/nodes/:ident/'],
  '/nodes/:ident/states': ['/nodes/states/:ident'],
  '/nodes/:ident/states/console': ['/nodes/states/console/:ident'],
}

export const baremetal: Dialect<Word> = {
  prefix: PREFIXES.baremetal,
  below: VERSION_PATHS.baremetal,
  routes,
  spellings: path => OTHERS[path] ?? [],
  documents: { '/': { show: showRoot } },
  documentType: JSON_UTF8,
  checks: {
    everywhere: [uriIsShort],
    beforeBody: [jsonIsAccepted, TOKEN],
    beforeHandler: [
      saysId('openstack-request-id'),
      versionIsKnown,
      methodIsThere,
      versionHasIt,
      callerMay,
      namesHaveNoNul(noSuchName),
    ],
  },
  negotiate: headers => negotiate(headers[VERSION_HEADER]),
  isOpen: ({ route }) => route?.isOpen === true,
  seesAll: 'baremetal:node:list_all',
  bulk: BULK,
  jsonBodies: true,
  invalidParameter: 'invalid_parameter',
  type: JSON_TYPE,
  render: renderError,
}
