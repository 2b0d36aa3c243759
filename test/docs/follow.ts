// Follows a page as a reader does: its files are written, its commands typed, and what it shows must be what comes.
//
// Comments directly above a block say what can't be seen in it:
//   <!-- run: background -->          each command stays, as a server does; what earlier blocks started ends before
//   <!-- run: beside -->              likewise, but what earlier blocks started goes on
//   <!-- run: fails with 4 -->        its last command is meant to fail, with this exit code
//   <!-- run: typing SECRET -->       its commands ask for a password, and SECRET is typed each time
//   <!-- run: with Keystone -->       only where there is one: it is http://keystone:5000, and OS_… are its admin's
//   <!-- not run: REASON -->          can't be run here; the test has a list of these
//   <!-- file: NAME -->               the block, of any language, is the content of this file
// Everything else in ```sh is run as it stands. If a page starts no server, it has one by itself, on an empty database.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Checkout, checkOut } from './checkout.ts'
import { commandsIn, type ShellCommand } from './commands.ts'
import { type Block, type Page, ROOT } from './pages.ts'
import { isAsShown } from './shown.ts'
import { type Printed, Terminal } from './terminal.ts'
import type { Keystone } from '../support/keystone.ts'

export interface How {
  kind: 'plain' | 'background' | 'typing' | 'not run'
  /** What the last command ends with. */
  code: number
  /** What is typed when a password is asked for. */
  answer: string
  needsKeystone: boolean
  /** What earlier blocks started goes on. */
  isBeside: boolean
}

export class NotTrue extends Error {}

/** What the notes above a block of shell ask for. */
export function howToRun({ notes }: Pick<Block, 'notes'>): How {
  const how: How = { kind: 'plain', code: 0, answer: '', needsKeystone: false, isBeside: false }
  for (const note of notes) {
    const [, wish = '', detail = ''] =
      /^(run: fails with|run: typing|not run:|file:|run: [ a-zA-Z]+) ?(.*)$/.exec(note) ?? []
    if (wish === 'not run:') how.kind = 'not run'
    else if (wish === 'run: background') how.kind = 'background'
    else if (wish === 'run: beside') Object.assign(how, { kind: 'background', isBeside: true })
    else if (wish === 'run: with Keystone') how.needsKeystone = true
    else if (wish === 'run: typing') Object.assign(how, { kind: 'typing', answer: detail })
    else if (wish === 'run: fails with') how.code = Number(detail)
    else if (wish !== 'file:') throw new NotTrue(`nobody knows what '${note}' above a block means`)
  }
  return how
}

/** What speaks to a server. */
const CLIENT = /\b(holdfast|curl|openstack|baremetal|blazar)\b/

export interface World {
  /** The address of an empty PostgreSQL database. */
  createDatabase: () => Promise<string>
  /** A real one, or null where it isn't installed. */
  keystone: () => Promise<Keystone> | null
  /** Folders with commands, as in PATH. */
  path: string
}

/** Runs all blocks of a page in order, and throws at the first thing that isn't as the page says. */
export async function follow(page: Page, world: World): Promise<void> {
  const checkout = await checkOut()
  const terminal = new Terminal(checkout.folder, {
    // As if it had been installed.
    PATH: `${join(checkout.folder, 'bin')}:${world.path}`,
    LANG: 'C.UTF-8',
    npm_config_update_notifier: 'false',
  })
  try {
    await new Reader(page, world, checkout, terminal).read()
  } finally {
    await terminal.close()
    checkout.remove()
  }
}

class Reader {
  readonly #page: Page
  readonly #world: World
  readonly #checkout: Checkout
  readonly #terminal: Terminal
  /** By what the page calls them. */
  readonly #databases = new Map<string, string>()
  #hasServer = false
  #keystone: Keystone | null = null

  constructor(page: Page, world: World, checkout: Checkout, terminal: Terminal) {
    this.#page = page
    this.#world = world
    this.#checkout = checkout
    this.#terminal = terminal
  }

  async read(): Promise<void> {
    let printed: string | null = null
    for (const block of this.#page.blocks) {
      this.#writeFile(block)
      if (block.language === 'sh') printed = await this.#run(block)
      else if (isOutput(block) && printed !== null) this.#compare(block, printed)
      else printed = null
    }
  }

  /** Whether there is one; from now on the reader is its admin. */
  async #meetKeystone(): Promise<boolean> {
    this.#keystone ??= await this.#world.keystone()
    if (this.#keystone === null) return false
    const { url, password } = this.#keystone
    const variables = {
      AUTH_TYPE: 'password',
      AUTH_URL: url,
      USERNAME: 'admin',
      PASSWORD: password,
      PROJECT_NAME: 'admin',
    }
    const words = Object.entries(variables).map(([name, value]) => `OS_${name}=${value}`)
    const domains = 'OS_USER_DOMAIN_NAME=Default OS_PROJECT_DOMAIN_NAME=Default OS_IDENTITY_API_VERSION=3'
    await this.#terminal.run(`unset OS_ENDPOINT; export ${words.join(' ')} ${domains}`)
    return true
  }

  #writeFile({ notes, text }: Block): void {
    for (const note of notes) {
      const [, name] = /^file: (\S+)$/.exec(note) ?? []
      if (!name) continue
      const file = join(this.#checkout.folder, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, this.#checkout.here(`${text}\n`), { mode: text.startsWith('#!') ? 0o755 : 0o600 })
    }
  }

  /** All that the block's commands print, or null if it can't be run here. */
  async #run(block: Block): Promise<string | null> {
    const how = howToRun(block)
    if (how.kind === 'not run' || (how.needsKeystone && !(await this.#meetKeystone()))) return null
    const commands = commandsIn(block)
    if (how.kind === 'background' && !how.isBeside) await this.#terminal.stopAll()
    else if (!this.#hasServer && CLIENT.test(block.text)) {
      await this.#start({ line: block.line, text: 'bin/holdfast serve' })
    }
    this.#hasServer ||= how.kind === 'background' || CLIENT.test(block.text)
    let printed = ''
    for (const command of commands) {
      const { code, output } = await this.#type(await this.#located(command.text), how)
      const expected = how.kind === 'background' ? null : command === commands.at(-1) ? how.code : 0
      if (code !== expected) this.#complain(command, { code, output }, expected)
      printed += output
    }
    return printed
  }

  /** The server that a page takes for granted. */
  async #start(command: ShellCommand): Promise<void> {
    const printed = await this.#terminal.start(command.text)
    if (printed.code !== null) this.#complain(command, printed, null)
  }

  #type(text: string, how: How): Promise<Printed> {
    if (how.kind === 'background') return this.#terminal.start(text)
    if (how.kind === 'typing') return this.#terminal.type(text, how.answer)
    return this.#terminal.run(text)
  }

  /** The command with this run's ports, and with databases that exist. */
  async #located(text: string): Promise<string> {
    for (const [named] of text.matchAll(/postgres:\/\/[^\s'"]+/g)) {
      if (!this.#databases.has(named)) this.#databases.set(named, await this.#world.createDatabase())
    }
    const located = text.replaceAll(/postgres:\/\/[^\s'"]+/g, named => this.#databases.get(named)!)
    return this.#checkout.here(located).replaceAll('http://keystone:5000', this.#keystone?.url ?? '')
  }

  #complain({ line, text }: ShellCommand, { code, output }: Printed, expected: number | null): never {
    const meant = expected === null ? 'it should stay' : expected === 0 ? '' : `it should exit with ${expected}`
    const ended = code === null ? 'took too long' : `exited with ${code}`
    const told = this.#terminal.told()
    throw new NotTrue(
      [`${this.#page.path}:${line}: ${text}`, [ended, meant].filter(Boolean).join('; '), output, told]
        .filter(Boolean)
        .join('\n'),
    )
  }

  #compare({ line, text, language }: Block, printed: string): void {
    const shown = this.#checkout.here(text)
    const plain = printed.replaceAll(this.#checkout.folder, ROOT)
    if (isAsShown(shown, plain, language)) return
    throw new NotTrue(`${this.#page.path}:${line}: what is shown isn't what was printed:\n${printed}`)
  }
}

/** A block directly below a command, unless it is a file. */
const isOutput = ({ language, notes, isNext }: Block) =>
  isNext && ['text', 'json'].includes(language) && !notes.some(note => note.startsWith('file: '))
