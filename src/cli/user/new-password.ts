// Asks for new passwords: typed twice, or read from standard input.
import type { Command } from 'commander'
import { limits } from '../../shared/limits.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { askSecret, readSecret } from '../secret.ts'
import { terminal } from '../terminal.ts'

export interface PasswordFlags {
  password?: string
  passwordStdin?: boolean
}

export const withPassword = (command: Command): Command =>
  command
    .option('--password-stdin', 'read the password from standard input')
    .option('--password <password>', 'the password, for tests: others on this machine see command lines')

/** null if none was given. */
export async function givenPassword({ password, passwordStdin }: PasswordFlags): Promise<string | null> {
  if (password !== undefined) return password
  return passwordStdin ? readSecret(terminal().stdin) : null
}

export async function newPassword(flags: PasswordFlags): Promise<string> {
  const given = await givenPassword(flags)
  return checked(given ?? (terminal().stdin.isTTY ? await askTwice() : await readSecret(terminal().stdin)))
}

/** The present password and the new one; without a terminal they are the first two lines of standard input. */
export async function passwordChange(): Promise<{ original: string; password: string }> {
  if (terminal().stdin.isTTY) {
    const original = await askSecret('Present password: ')
    return { original, password: checked(await askTwice('New password: ')) }
  }
  let text = ''
  for await (const chunk of terminal().stdin) text += String(chunk)
  const [original = '', password = ''] = text.split(/\r?\n/)
  return { original, password: checked(password) }
}

function checked(password: string): string {
  if (password === '') throw new UsageError('a password can not be empty')
  if (password.length > limits.passwordBytesMax) throw new UsageError('the password is too long')
  return password
}

async function askTwice(question = 'Password: '): Promise<string> {
  const first = await askSecret(question)
  if ((await askSecret('Again: ')) !== first) throw new UsageError('the two are not the same')
  return first
}
