// What the dashboard needs before it has a token: how to log in here. Below /ui, beside its files; no API for programs.
import { STRICT, UI } from '../../http/ui.ts'
import { limits } from '../../shared/limits.ts'
import { callerMay, methodIsThere, says, uriIsShort } from '../frame/checks.ts'
import { type Dialect, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { renderError } from '../identity/errors.ts'
import { logIn, logOut, showConfig, showProjects } from './login.ts'

export const ui: Dialect = {
  prefix: UI,
  below: '',
  routes: {
    '/config.json': { GET: { handle: showConfig, action: null, isOpen: true } },
    // As below /identity/v3, so that the page uses the client's login for both.
    '/identity/v3/auth/tokens': {
      POST: { handle: logIn, action: null, isOpen: true },
      DELETE: { handle: logOut, action: 'identity:revoke_token' },
    },
    '/identity/v3/auth/projects': { GET: { handle: showProjects, action: 'identity:get_auth_projects' } },
  },
  isPartOfRoot: true,
  headIsGet: true,
  checks: {
    everywhere: [says({ ...STRICT, 'cache-control': 'no-store' }), uriIsShort],
    beforeBody: [methodIsThere, TOKEN],
    beforeHandler: [callerMay],
  },
  isOpen: ({ route }) => route?.isOpen ?? false,
  nobody: 'not_authenticated',
  forbidden: 'identity_forbidden',
  bodyBytesMax: limits.strangersBodyBytesMax,
  jsonBodies: true,
  type: JSON_UTF8,
  render: renderError,
}
