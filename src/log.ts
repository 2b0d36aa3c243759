// Structured logs on standard error: errors and slow requests, not every request.
import { destination, type Logger, pino } from 'pino'

export function createLog(level: string): Logger {
  return pino({ name: 'holdfast', level, base: { pid: process.pid } }, destination({ fd: 2, sync: true }))
}
