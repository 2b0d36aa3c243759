// Lists and rotates the token signing keys directly in the database, with or without a running server.
import { systemClock } from '../../clock/clock.ts'
import type { Config } from '../../config/config.ts'
import { isAccepted, rotateSigningKeys, type SigningKey, signingKeys } from '../../identity/signing-keys.ts'
import { SharedClock } from '../../clock/shared-clock.ts'
import type { Store } from '../../store/store.ts'
import { withLedger } from '../ledger-database.ts'
import { terminal } from '../terminal.ts'

export const listKeys = (config: Config): Promise<void> => onDatabase(config, list)

export const rotateKeys = (config: Config, forgetAll: boolean): Promise<void> => onDatabase(config, rotate(forgetAll))

type Work = (keys: { store: Store; now: number; lifeMs: number }) => Promise<void>

async function onDatabase({ database, tokenHours, testClock }: Config, work: Work): Promise<void> {
  await withLedger(database, async store => {
    // The servers' shared time. With a slow local clock, tokens issued just before would seem newer than the rotation.
    const clock = new SharedClock(store, testClock)
    try {
      await clock.start()
      await work({ store, now: clock.now(), lifeMs: tokenHours * 60 * 60_000 })
    } finally {
      clock.stop()
    }
  })
}

const list: Work = async ({ store, now, lifeMs }) => {
  for (const key of await store.read(signingKeys)) {
    terminal().stdout.write(`${key.id}  made ${timeOf(key.createdAt)}  ${stateOf(key, now, lifeMs)}\n`)
  }
}

const rotate =
  (forgetAll: boolean): Work =>
  async ({ store, now, lifeMs }) => {
    const fresh = systemClock.newSecret(32)
    const { id } = await store.write(() => rotateSigningKeys({ fresh, now, lifeMs, forgetAll }))
    const before = forgetAll
      ? 'all tokens of the keys before it have ended'
      : 'tokens of the keys before it last until they end'
    terminal().stdout.write(`key ${id} is in use; ${before}\n`)
  }

function stateOf(key: SigningKey, now: number, lifeMs: number): string {
  if (key.retiredAt === null) return 'in use'
  if (!isAccepted(key, now, lifeMs)) return 'gone'
  return `accepted until ${timeOf(key.retiredAt + lifeMs)}`
}

const timeOf = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
