// holdfast user keys list, rotate: the token signing keys, in the database that the settings name.
import type { Command } from 'commander'
import { withExample } from '../example.ts'
import { configOf, type SettingFlags, withSettings } from '../service/settings.ts'

const SHOWN = ['database', 'tokenHours'] as const
const database = () => import('./keys-database.ts')

export function addKeyCommands(user: Command): void {
  const keys = user.command('keys').description('the keys that tokens are signed with')
  const list = keys.command('list').description('shows which keys there are, without their secrets')
  withExample(withSettings(list, SHOWN), 'user keys list').action(async (flags: SettingFlags) =>
    (await database()).listKeys(configOf(flags)),
  )
  const rotate = keys
    .command('rotate')
    .description('signs new tokens with a new key; old tokens last until they end')
    .option('--now', 'end all tokens of the old keys at once, as after a leak')
  withExample(withSettings(rotate, SHOWN), 'user keys rotate').action(async (flags: SettingFlags & { now?: boolean }) =>
    (await database()).rotateKeys(configOf(flags), flags.now ?? false),
  )
}
