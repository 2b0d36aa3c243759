// holdfast migrate
import type { Config } from '../../config/config.ts'
import { mask } from '../../config/mask.ts'
import { migrateStore } from '../../process/migrate.ts'
import { openStore } from '../../store/open.ts'
import { terminal } from '../terminal.ts'

export async function migrateDatabase({ database }: Config): Promise<number> {
  const store = openStore(database)
  try {
    const applied = await migrateStore(store)
    const what = applied.length === 0 ? 'was up to date' : `got ${applied.join(', ')}`
    terminal().stdout.write(`${mask(database)} ${what}\n`)
    return 0
  } finally {
    await store.close()
  }
}
