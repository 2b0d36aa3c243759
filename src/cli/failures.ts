// How a failed command reports: one line, a hint, and an exit code that scripts can test.
import { styleText } from 'node:util'
import { ApiError, ConnectionUnclear, LoginRefused, Unreachable, WaitedTooLong, WrongUse } from '../client/errors.ts'
import { visible } from './output.ts'
import { terminal } from './terminal.ts'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  /** Someone else has it, or nothing fits. */
  conflict: 4,
  notAllowed: 5,
  unreachable: 6,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A failure that the command found itself, without a refusal from the server. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode
  readonly hint: string | null

  constructor(exitCode: ExitCode, message: string, hint: string | null = null) {
    super(message)
    this.exitCode = exitCode
    this.hint = hint
  }
}

interface Verdict {
  exitCode: ExitCode
  message: string
  hint: string | null
}

const LOGIN_HINT = 'name a cloud with --os-cloud, or set OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME'
const REFUSALS: Record<number, [ExitCode, string | null]> = {
  401: [EXIT.notAllowed, LOGIN_HINT],
  403: [EXIT.notAllowed, 'this needs another role or project'],
  404: [EXIT.notFound, null],
  409: [EXIT.conflict, null],
  429: [EXIT.notAllowed, 'wait a while: too many wrong passwords came from here'],
  502: [EXIT.unreachable, null],
  503: [EXIT.unreachable, 'try again in a moment'],
  504: [EXIT.unreachable, null],
}

/** null for an unexpected error, which is a bug. */
export function verdictOn(error: unknown): Verdict | null {
  if (error instanceof CommandFailure) return error
  if (error instanceof WaitedTooLong) {
    const { message, hint, isAway } = error
    return { exitCode: isAway ? EXIT.unreachable : EXIT.failed, message, hint }
  }
  if (error instanceof ConnectionUnclear || error instanceof WrongUse) {
    return { exitCode: EXIT.usage, message: error.message, hint: null }
  }
  if (error instanceof Unreachable) {
    const hint = error.message.includes('certificate')
      ? 'name the certificate to trust with --os-cacert, OS_CACERT or cacert in clouds.yaml'
      : 'is it running (holdfast serve)? say with --url or HOLDFAST_URL where it is'
    return { exitCode: EXIT.unreachable, message: error.message, hint }
  }
  if (!(error instanceof ApiError)) return null
  const { status, kind, message, requestId } = error
  const other: [ExitCode, string | null] =
    status < 500
      ? [kind === 'conflict' ? EXIT.conflict : EXIT.usage, null]
      : [EXIT.failed, requestId && `look for ${requestId} in the server's log`]
  const [exitCode, hint] = REFUSALS[status] ?? other
  // Who has said a name needs no advice on how to say it.
  return { exitCode, message, hint: error instanceof LoginRefused ? null : hint }
}

export function tell({ exitCode, message, hint }: Verdict): ExitCode {
  const aside = hint ? styleText('dim', ` (${hint})`, { stream: terminal().stderr }) : ''
  terminal().stderr.write(`holdfast: ${visible(message)}${aside}\n`)
  return exitCode
}
