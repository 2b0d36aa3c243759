// Tells of JSON in the database that can't be read, whoever reads it.
import type { Logger } from 'pino'
import { onUnreadable } from '../shared/json.ts'
import type { Metrics } from './metrics.ts'

/** Logs the first, the second, the fourth and so on: a list that is asked for again and again meets the same row. */
export function tellUnreadable(log: Logger, metrics: Metrics): () => void {
  let count = 0
  return onUnreadable(error => {
    metrics.unreadable(error.words)
    count++
    if (Number.isInteger(Math.log2(count))) log.error({ err: error, count }, 'a row is damaged: fsck says which')
  })
}
