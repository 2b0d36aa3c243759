// holdfast migrate
import type { Config } from '../../config/config.ts'
import { mask } from '../../config/mask.ts'
import { migrateStore } from '../../process/migrate.ts'
import { faultsInWords } from '../../store/catalogue/compare.ts'
import { openStore } from '../../store/open.ts'
import { PostgresStore } from '../../store/postgres.ts'
import { EXIT } from '../failures.ts'
import { terminal } from '../terminal.ts'

export async function migrateDatabase({ database }: Config): Promise<number> {
  const store = openStore(database)
  try {
    if (store instanceof PostgresStore) await store.requireSessions()
    const { applied, report } = await migrateStore(store)
    const what = applied.length === 0 ? 'was up to date' : `got ${applied.join(', ')}`
    terminal().stdout.write(`${mask(database)} ${what}\n`)
    const words = faultsInWords(report)
    if (words === null) return EXIT.ok
    const how = 'restore it whole; `holdfast fsck` names all that is wrong'
    terminal().stderr.write(`holdfast: ${words}; ${how}\n`)
    return EXIT.failed
  } finally {
    await store.close()
  }
}
