// What a failed run of ipmitool means, in words for the operator.
import { limits } from '../../../shared/limits.ts'

export interface Run {
  code: number | null
  stdout: string
  stderr: string
  /** It took no longer than a refusal does. */
  isQuick: boolean
  /** It was ended because its time was over. */
  isLate: boolean
}

/** Where it went. */
interface Place {
  address: string
  port: number
  username: string
  privilege: string
  /** Null: with IPMI 1.5, which has none. */
  suite: number | null
}

/** `busy`: ask again later. `suite`: the BMC has another cipher suite. */
export interface Failure {
  kind: 'busy' | 'suite' | 'away' | 'failed'
  message: string
}

const BUSY = [
  'insufficient resources for session',
  'Node busy',
  'Timeout',
  'Out of space',
  'BMC initialization in progress',
]
const OTHER_SUITE = [
  'Unsupported cipher suite ID',
  'no matching cipher suite',
  'invalid authentication algorithm',
  'invalid integrity algorithm',
  'invalid confidentiality algorithm',
  'invalid role',
]
const NO_SESSION = /Unable to establish (IPMI v[\d.]+ \/ RMCP\+? |LAN )?session/

/** Null when it did what it was told. */
export function failureOf(run: Run, place: Place): Failure | null {
  const { code, stdout, stderr, isLate } = run
  if (code === 0 && !isLate) return null
  const said = `${stderr}\n${stdout}`
  const has = (words: readonly string[]) => words.some(word => said.includes(word))
  const at = `the BMC at ${place.address} port ${place.port}`
  if (isLate) return { kind: 'away', message: `ipmitool got no answer from ${at} in time, and was ended.` }
  if (/Address lookup for .* failed|Could not open socket/.test(said)) {
    return { kind: 'failed', message: `The address of ${at} can't be found: ${wordsIn(said)}` }
  }
  if (has(OTHER_SUITE)) {
    const message = `${at} refuses cipher suite ${place.suite ?? ''}: set driver_info/ipmi_cipher_suite to one that it has.`
    return { kind: 'suite', message: capital(message) }
  }
  if (has(BUSY)) return { kind: 'busy', message: `${capital(at)} is busy: ${wordsIn(said)}` }
  if (said.includes('Insufficient privilege level')) {
    const message = `${capital(at)} does not let user ${place.username || '(none)'} have the privilege level ${place.privilege}.`
    return { kind: 'failed', message: `${message} See driver_info/ipmi_priv_level.` }
  }
  if (NO_SESSION.test(said)) return noSession(run, place, at)
  return { kind: 'failed', message: `${capital(at)} refused: ${wordsIn(said) || `ipmitool ended with ${code}`}` }
}

/** ipmitool says the same for a wrong password and for a BMC that isn't there. Only the time tells them apart. */
function noSession({ isQuick }: Run, { username, privilege, suite }: Place, at: string): Failure {
  if (!isQuick) {
    const message = `Nobody answered at ${at.replace('the BMC at ', '')}.`
    return { kind: 'away', message: `${message} Is the address right, the BMC on the network, and IPMI over LAN on?` }
  }
  const suspects = [
    'the password',
    `user ${username || '(none)'}`,
    `privilege level ${privilege}`,
    ...(suite === null ? [] : [`cipher suite ${suite}`]),
  ]
  const message = `${capital(at)} answered and refused the session: ${suspects.slice(0, -1).join(', ')} or ${suspects.at(-1)} is wrong`
  return { kind: 'failed', message: `${message}; it does not say which.` }
}

/** ipmitool's last lines, which name the failure. */
function wordsIn(said: string): string {
  const lines = said.split('\n').map(line => line.trim())
  return lines
    .filter(line => line !== '')
    .slice(0, 3)
    .join('; ')
    .slice(0, limits.ipmiWordsMax)
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
