// The Nova beside us, if there is one, and how we log in there.
import type { Config } from '../config/config.ts'
import type { Clock } from '../clock/clock.ts'
import { lifeMsOf } from '../identity/identity.ts'
import { KeystoneAccount } from '../identity/keystone-account.ts'
import { ServiceAccount } from '../identity/service-user.ts'
import { NovaClient } from '../nova/client.ts'
import type { Store } from '../store/store.ts'

/** null unless the servers are those of a Nova. Nobody is asked yet. */
export function novaFor(config: Config, { store, clock }: { store: Store; clock: Clock }): NovaClient | null {
  if (config.compute !== 'nova') return null
  // With Keystone it is Nova's Identity too; else we are, and sign a token for ourselves.
  const login =
    config.auth === 'keystone'
      ? new KeystoneAccount(config, () => clock.now())
      : new ServiceAccount({ store, clock, lifeMs: lifeMsOf(config) })
  return new NovaClient({ url: config.novaUrl!, login })
}
