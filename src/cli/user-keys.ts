// holdfast user keys list, rotate: the keys that tokens are signed with, in the database of the settings.
import type { Command } from 'commander'
import { systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { isAccepted, rotateSigningKeys, type SigningKey, signingKeys } from '../identity/signing-keys.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { configOf, type SettingFlags, withSettings } from './settings.ts'

const SHOWN = ['database', 'tokenHours'] as const

export function addKeyCommands(user: Command): void {
  const keys = user.command('keys').description('the keys that tokens are signed with')
  withSettings(keys.command('list').description('shows which keys there are, without their secrets'), SHOWN).action(
    (flags: SettingFlags) => onDatabase(flags, listKeys),
  )
  withSettings(keys.command('rotate').description('signs new tokens with a new key; old tokens last until they end'), [
    ...SHOWN,
  ])
    .option('--now', 'end all tokens of the old keys at once: a key was seen by someone')
    .action((flags: SettingFlags & { now?: boolean }) =>
      onDatabase(flags, (store, config) => rotate(store, config, flags.now ?? false)),
    )
}

async function onDatabase(flags: SettingFlags, work: (store: Store, config: Config) => Promise<void>): Promise<void> {
  const config = configOf(flags)
  const store = openStore(config.database)
  try {
    await work(store, config)
  } finally {
    await store.close()
  }
}

const lifeMsOf = ({ tokenHours }: Config) => tokenHours * 60 * 60_000

async function listKeys(store: Store, config: Config): Promise<void> {
  const now = systemClock.now()
  for (const key of await store.read(signingKeys)) {
    process.stdout.write(`${key.id}  made ${dayOf(key.createdAt)}  ${stateOf(key, now, lifeMsOf(config))}\n`)
  }
}

async function rotate(store: Store, config: Config, forgetAll: boolean): Promise<void> {
  const request = { fresh: systemClock.newSecret(32), now: systemClock.now(), lifeMs: lifeMsOf(config), forgetAll }
  const { id } = await store.write(() => rotateSigningKeys(request))
  const before = forgetAll
    ? 'all tokens of the keys before it have ended'
    : 'tokens of the keys before it last until they end'
  process.stdout.write(`key ${id} is in use; ${before}\n`)
}

function stateOf(key: SigningKey, now: number, lifeMs: number): string {
  if (key.retiredAt === null) return 'in use'
  if (!isAccepted(key, now, lifeMs)) return 'gone'
  return `accepted until ${dayOf(key.retiredAt + lifeMs)}`
}

const dayOf = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
