// A newcomer at a terminal: types what the pages say, and reads all that is shown. Whatever it is, it must fit the
// terminal and be meant for people. HOLDFAST_TRANSCRIPT=1 prints what they saw.
import assert from 'node:assert/strict'
import { stripVTControlCharacters } from 'node:util'
import { type Typed, startHoldfast, type TypedExit } from '../support/command.ts'
import { widthOf } from '../../src/cli/width.ts'

const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/
/** What slips out of programs. */
const SLIPS = /\bundefined\b|\bNaN\b|\[object|Invalid Date|\bat file:/

const NO_CLOUD = { OS_CLOUD: '', OS_AUTH_URL: '', OS_USERNAME: '', OS_TOKEN: '', OS_ENDPOINT: '', HOME: '/nonexistent' }

/** Words with spaces are in quotes, as in a shell. */
const wordsIn = (line: string) =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, plain]) => single ?? double ?? plain!)

/** What is only looked at is looked at on each of these. */
const WIDTHS = [80, 120] as const

export class Newcomer {
  readonly #origin: () => string
  readonly #environment: Record<string, string>

  constructor(origin: () => string, environment: Record<string, string> = {}) {
    this.#origin = origin
    this.#environment = environment
  }

  /** The same terminal, logged in. Everyone's password is their name with -pw. */
  as(name: string, project = 'lab'): Newcomer {
    return this.with({ OS_USERNAME: name, OS_PASSWORD: `${name}-pw`, OS_PROJECT_NAME: project })
  }

  with(environment: Record<string, string>): Newcomer {
    return new Newcomer(this.#origin, { ...this.login, ...environment })
  }

  /** For the library. */
  get login(): Record<string, string> {
    return this.#environment
  }

  begins(line: string, columns: number = WIDTHS[0]): Typed {
    const environment = {
      ...NO_CLOUD,
      HOLDFAST_URL: this.#origin(),
      TZ: 'Europe/Berlin',
      LANG: 'en_GB.UTF-8',
      LC_ALL: '',
      ...this.#environment,
    }
    return startHoldfast(wordsIn(line), { environment, columns })
  }

  /** A command that changes something, and must succeed. */
  async does(line: string): Promise<string> {
    const { code, shown } = await this.#reads(line)
    assert.equal(code, 0, `${line}\n${shown}`)
    return shown
  }

  /** A command that only looks, on each width: people never see an id. What is shown on the narrow one. */
  async sees(line: string): Promise<string> {
    const exits = []
    for (const columns of WIDTHS) exits.push(await this.#reads(line, columns))
    for (const { code, shown } of exits) {
      assert.equal(code, 0, `${line}\n${shown}`)
      assert.doesNotMatch(shown, UUID, `${line}\n${shown}`)
      assert.doesNotMatch(shown, /\bnull\b/, `${line}\n${shown}`)
    }
    return exits[0]!.shown
  }

  /** On which machine something runs, as the status says it. */
  async finds(what: string): Promise<{ machine: string }> {
    const { stdout } = await this.begins('status -f json').exit
    const { machines } = JSON.parse(stdout) as { machines: { name: string; what: string | null }[] }
    return { machine: machines.find(one => one.what === what)!.name }
  }

  /** A refusal is for people, and says what to do. */
  async isRefused(line: string, code: number, helps: RegExp): Promise<string> {
    const { code: exit, shown } = await this.#reads(line)
    assert.equal(exit, code, `${line}\n${shown}`)
    assert.match(shown.replaceAll(/\s+/g, ' '), helps, line)
    assert.doesNotMatch(shown, UUID, `${line}\n${shown}`)
    return shown
  }

  async #reads(line: string, columns: number = WIDTHS[0]): Promise<TypedExit> {
    const exit = await this.begins(line, columns).exit
    const shown = stripVTControlCharacters(exit.shown)
    const user = this.#environment['OS_USERNAME'] ?? ''
    if (process.env['HOLDFAST_TRANSCRIPT']) process.stderr.write(`\n${user} (${columns}) $ holdfast ${line}\n${shown}`)
    // What is told beside the result, a terminal wraps itself.
    for (const part of stripVTControlCharacters(exit.stdout).split(/[\r\n]/)) {
      assert.ok(widthOf(part) <= columns, `${line}: wider than ${columns}:\n${part}`)
    }
    assert.doesNotMatch(shown, SLIPS, line)
    return { ...exit, shown }
  }
}
