// What a driver says goes to the node's owner and lessee too: in last_error, the history, the answers of validate. So how
// its BMC is reached never stands in it.
import { isIPv4 } from 'node:net'
import { isObject } from '../../shared/is-object.ts'
import { MASK, SECRET_KEY, withoutUrlSecrets } from '../../shared/secret-keys.ts'
import {
  type Driver,
  HardwareFailure,
  type Json,
  type Machine,
  type SerialLine,
  type Site,
  type StepResult,
} from './port.ts'
import type { Question } from './questions.ts'

const IS_ADDRESS = /address|host|url|endpoint/i
const IS_USER = /user|login/i

/** The text with the name of the setting instead of its value: the address of the BMC, its user; secrets are masked. */
function withoutAccess(text: string, driverInfo: Json): string {
  let shown = text
  for (const [value, instead] of told(driverInfo)) shown = replaced(shown, value, instead)
  // A host name's address.
  shown = shown.replace(/\d{1,3}(\.\d{1,3}){3}(:\d+)?/g, word => (isIPv4(word.split(':')[0]!) ? '(an address)' : word))
  return withoutUrlSecrets(shown)
}

/** What may not be told, the longest first: one may be a part of another. */
function told(driverInfo: Json): [value: string, instead: string][] {
  const found = Object.entries(driverInfo).flatMap(([key, value]): [string, string][] => {
    if (isObject(value)) return told(value)
    if (typeof value !== 'string' && typeof value !== 'number') return []
    const text = String(value)
    if (SECRET_KEY.test(key)) return [[text, MASK]]
    if (IS_USER.test(key)) return [[text, key]]
    if (!IS_ADDRESS.test(key)) return []
    const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
    const { origin = '', host = '', hostname = '' } = url ?? {}
    return [text, origin, host, hostname, hostname.replace(/^\[|\]$/g, '')].map(part => [part, key])
  })
  return found.filter(([value]) => value !== '' && value !== 'null').toSorted(([a], [b]) => b.length - a.length)
}

/** Whole words only: a user who is called `a` isn't in every word. */
function replaced(text: string, value: string, instead: string): string {
  let shown = ''
  let from = 0
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, from)) {
    const end = at + value.length
    const isWhole = !/\w/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(end))
    shown += text.slice(from, at) + (isWhole ? instead : value)
    from = end
  }
  return shown + text.slice(from)
}

/** Which argument of a method is the machine. */
const MACHINE_AT: Readonly<Partial<Record<keyof Driver, number>>> = {
  validate: 1,
  validateStep: 2,
  run: 1,
  readPower: 0,
  ask: 1,
  openConsole: 0,
}

/** The driver, whose words are without access. What the machine says of itself is passed on as it is. */
export function discreet<D extends Driver>(driver: D): D {
  return new Proxy(driver, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const at = MACHINE_AT[key as keyof Driver]
      if (at === undefined) return value.bind(target) as unknown
      return (...given: unknown[]) => {
        const { driverInfo } = given[at] as Machine
        const args = key === 'run' ? given.with(2, quiet(given[2] as Site, driverInfo)) : given
        const isVerdict = key === 'ask' && (given[0] as Question).name === 'validate'
        const shown = (answer: unknown) => {
          if (typeof answer === 'string') return withoutAccess(answer, driverInfo)
          if (key === 'run') return resultWithout(answer as StepResult, driverInfo)
          if (key === 'openConsole') return lineWithout(answer as SerialLine, driverInfo)
          return isVerdict ? verdictsWithout(answer as Verdicts, driverInfo) : answer
        }
        return guarded(() => value.apply(target, args) as unknown, shown, driverInfo)
      }
    },
  })
}

function guarded(work: () => unknown, shown: (answer: unknown) => unknown, driverInfo: Json): unknown {
  const failed = (error: unknown): never => {
    if (error instanceof HardwareFailure) error.message = withoutAccess(error.message, driverInfo)
    throw error
  }
  try {
    const result = work()
    return result instanceof Promise ? result.then(shown, failed) : shown(result)
  } catch (error) {
    return failed(error)
  }
}

function resultWithout(result: StepResult, driverInfo: Json): StepResult {
  if (result.kind !== 'done' || result.found.notes === undefined) return result
  const notes = result.found.notes.map(note => withoutAccess(note, driverInfo))
  return { ...result, found: { ...result.found, notes } }
}

type Verdicts = Readonly<Record<string, string | null>>

const verdictsWithout = (verdicts: Verdicts, driverInfo: Json): Verdicts =>
  Object.fromEntries(
    Object.entries(verdicts).map(([name, why]) => [name, why === null ? null : withoutAccess(why, driverInfo)]),
  )

function lineWithout(line: SerialLine, driverInfo: Json): SerialLine {
  async function* output() {
    try {
      yield* line.output
    } catch (error) {
      if (error instanceof HardwareFailure) error.message = withoutAccess(error.message, driverInfo)
      throw error
    }
  }
  return { output: output(), write: bytes => line.write(bytes), close: () => line.close() }
}

const quiet = (site: Site, driverInfo: Json): Site =>
  new Proxy(site, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (key !== 'note') return value.bind(target)
      return ({ event, output, ...more }: Parameters<Site['note']>[0]) =>
        target.note({
          ...more,
          event: withoutAccess(event, driverInfo),
          ...(output === undefined ? {} : { output: withoutAccess(output, driverInfo) }),
        })
    },
  })
