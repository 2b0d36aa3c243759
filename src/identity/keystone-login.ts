// Logins of Keystone's users by way of us, for the dashboard: the same limits on guessing as for users of our own.
import { problem } from '../problems/problem.ts'
import type { Forwarded, Keystone } from './keystone.ts'
import type { Proof, Reference } from './login.ts'
import type { Throttle } from './throttle.ts'

interface KeystoneLoginOptions {
  keystone: Pick<Keystone, 'forward' | 'forget'>
  throttle: Throttle
  observe: (method: Proof['method'], outcome: 'granted' | 'refused' | 'throttled' | 'unavailable') => void
}

export class KeystoneLogin {
  readonly #options: KeystoneLoginOptions

  constructor(options: KeystoneLoginOptions) {
    this.#options = options
  }

  /** The token that Keystone issues for this body. The proof is what the body says. */
  async enter(
    proof: Proof,
    { identity, scope }: Record<string, unknown>,
    address: string,
  ): Promise<{ token: string; body: object }> {
    const { keystone, throttle, observe } = this.#options
    const name = nameIn(proof)
    try {
      if (name !== null) throttle.begin(name, address)
    } catch (error) {
      observe(proof.method, 'throttled')
      throw error
    }
    const body = JSON.stringify({ auth: { identity, scope } })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const answer = await keystone.forward('/auth/tokens?nocatalog', init, address).catch(error => {
      if (name !== null) throttle.withdrawn(name, address)
      observe(proof.method, 'unavailable')
      throw error
    })
    if (answer.status === 201 && answer.token !== null) {
      if (name !== null) throttle.succeeded(name, address)
      observe(proof.method, 'granted')
      return { token: answer.token, body: answer.body }
    }
    observe(proof.method, 'refused')
    throw refusal(answer)
  }

  /** Revokes the token, there and in our memory. */
  async leave(token: string, address: string): Promise<void> {
    const { keystone } = this.#options
    const headers = { 'x-auth-token': token, 'x-subject-token': token }
    // It is over here in any case, also if Keystone can't be told.
    keystone.forget(token)
    const answer = await keystone.forward('/auth/tokens', { method: 'DELETE', headers }, address)
    keystone.forget(token)
    // A token that Keystone doesn't know is as good as revoked.
    if (![204, 401, 404].includes(answer.status)) throw refusal(answer)
  }

  /** The projects that the token's user may get a token for. */
  async projects(token: string, address: string): Promise<object> {
    const headers = { 'x-auth-token': token }
    const answer = await this.#options.keystone.forward('/auth/projects', { headers }, address)
    if (answer.status !== 200) throw refusal(answer)
    return answer.body
  }
}

/** The name under which attempts are counted; null where there is nothing to guess. */
function nameIn(proof: Proof): string | null {
  switch (proof.method) {
    case 'password':
      return wordOf(proof.user)
    case 'application_credential': {
      const { credential } = proof
      return `credential ${'id' in credential ? credential.id : `${wordOf(credential.user)} ${credential.name}`}`
    }
    default:
      return null
  }
}

const wordOf = (reference: Reference) => ('id' in reference ? reference.id : reference.name)

function refusal({ status }: Forwarded) {
  return status === 400
    ? problem('identity_invalid', { reason: 'Keystone does not take this login as it is.' })
    : problem('not_authenticated', {})
}
