// Structured logs on standard error: errors and slow requests, not every request.
import { destination, type Logger, pino } from 'pino'
import { limits } from '../shared/limits.ts'

export function createLog(level: string): Logger {
  const output = destination({ fd: 2, sync: true, maxLength: limits.logBytesKept })
  // A full disk must not end the process. Memory keeps lines, up to a limit, until there is room.
  output.on('error', () => {})
  return pino({ name: 'holdfast', level, base: { pid: process.pid } }, output)
}
