// Our own login at a Keystone, as the service user of the settings. Its token is kept until shortly before it ends.
import { readFileSync } from 'node:fs'
import { limits } from '../shared/limits.ts'
import type { IdentitySettings } from './settings.ts'

interface Login {
  token: string
  expiresAt: number
}

export class KeystoneAccount {
  readonly #config: IdentitySettings
  readonly #now: () => number
  readonly #tokensUrl: string
  #login: Promise<Login> | null = null

  constructor(config: IdentitySettings, now: () => number) {
    this.#config = config
    this.#now = now
    this.#tokensUrl = `${keystoneUrl(config)}/auth/tokens?nocatalog`
  }

  async token(): Promise<string> {
    const isOld = ({ expiresAt }: Login) => expiresAt - limits.keystoneRenewMs < this.#now()
    const present = this.#login && (await this.#login)
    if (present && !isOld(present)) return present.token
    // Another request may have renewed it meanwhile.
    if (!this.#login || (await this.#login) === present) {
      const renewed = this.#enter()
      this.#login = renewed
      renewed.catch(() => {
        if (this.#login === renewed) this.#login = null
      })
    }
    return (await this.#login).token
  }

  /** The token was refused: it was revoked, or Keystone has new keys. The next one is new. */
  refused(): void {
    this.#login = null
  }

  async #enter(): Promise<Login> {
    const { keystoneUsername, keystoneUserDomain, keystoneProject, keystoneProjectDomain } = this.#config
    const user = { name: keystoneUsername, domain: { name: keystoneUserDomain }, password: passwordIn(this.#config) }
    const auth = {
      identity: { methods: ['password'], password: { user } },
      scope: { project: { name: keystoneProject, domain: { name: keystoneProjectDomain } } },
    }
    const answer = await fetch(this.#tokensUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth }),
      signal: AbortSignal.timeout(limits.keystoneMsMax),
      redirect: 'error',
    })
    const token = answer.headers.get('x-subject-token')
    if (answer.status !== 201 || token === null) {
      await answer.body?.cancel()
      throw new Error(`Keystone answered ${answer.status} to our own login as ${keystoneUsername}`)
    }
    const shown = (await answer.json()) as { token: { expires_at: string } }
    return { token, expiresAt: Date.parse(shown.token.expires_at) }
  }
}

/** The setting may be with or without /v3 at its end. */
export const keystoneUrl = ({ keystoneUrl: url }: IdentitySettings) =>
  `${url!.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`

/** Read at each login, so that a new password in the file is used. */
function passwordIn({ keystonePassword, keystonePasswordFile }: IdentitySettings): string {
  if (keystonePasswordFile === null) return keystonePassword ?? ''
  return readFileSync(keystonePasswordFile, 'utf8').replace(/\r?\n$/, '')
}
