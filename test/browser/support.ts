// A browser at the dashboard of a server with the demo's fleet: alice and bob are members, carol is an admin.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { PEOPLE } from '../../src/cli/demo/people.ts'
import type { Passwords } from '../../src/cli/demo/users.ts'
import { type Holdfast, holdfastAt } from '../../src/client/index.ts'
import { type Login, logIn } from '../../src/client/login.ts'
import type { Config } from '../../src/config/config.ts'
import { type Server, startServer } from '../support/server.ts'
import { build } from './build.ts'
import { copyFleet } from './fleet.ts'

export type Name = 'alice' | 'bob' | 'carol'

const asked = process.env['CHROMIUM']
const found = [asked, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(file => file && existsSync(file))
// Whoever names one wants these tests; CI does.
if (asked && found !== asked) throw new Error(`there is no ${asked}, which CHROMIUM names`)
const missing = found === undefined && 'needs a browser: apt-get install chromium, or CHROMIUM=/where/it/is'
if (missing) console.log(`the tests in a browser are skipped: this ${missing}`)

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
].concat('--disable-component-update', '--disable-sync', '--disable-dev-shm-usage')
/** Far more than needed, so that a busy machine doesn't fail a test. */
const PATIENCE_MS = 60_000

export interface View {
  /** Who is logged in; null for nobody yet. */
  as?: Name | null
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  zone?: string
  isTouch?: boolean
  /** What the console may say, such as the refusal that a test asks for. */
  expecting?: RegExp
}

export class Dashboard {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-browser-'))
  readonly #settings: Partial<Config>
  readonly #logins = new Map<Name, Promise<Login>>()
  readonly #contexts: BrowserContext[] = []
  readonly #complaints: string[] = []
  #browser: Browser | undefined
  #server: Server | undefined
  #passwords: Passwords = {}
  #port = 0

  constructor(settings: Partial<Config>) {
    this.#settings = settings
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get #isOpen(): boolean {
    return this.#settings.auth === 'none'
  }

  passwordOf(name: Name): string {
    return this.#passwords[name]!
  }

  /** Starts the server and the browser; with a fleet of so many machines. */
  async begin(nodes: number): Promise<void> {
    build()
    this.#passwords = await copyFleet(nodes, this.#folder)
    await this.start()
    this.#browser = await chromium.launch({ executablePath: found!, args: ARGS })
  }

  /** The server, where it was before if it was stopped. */
  async start(): Promise<void> {
    const database = `sqlite:${join(this.#folder, 'holdfast.db')}`
    this.#server = await startServer(database, {
      auth: 'password',
      users: join(this.#folder, 'users.yaml'),
      placementPolicy: 'secure',
      port: this.#port,
      ...this.#settings,
    })
    this.#port = Number(new URL(this.#server.origin).port)
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
    this.#server = undefined
  }

  async end(): Promise<void> {
    await this.#browser?.close()
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** What the pages of a test complained of; and they are closed. */
  async settle(): Promise<string[]> {
    for (const context of this.#contexts.splice(0)) await context.close()
    return this.#complaints.splice(0)
  }

  login(name: Name): Promise<Login> {
    const { project } = PEOPLE.find(person => person.name === name)!
    const domain = { name: 'Default' }
    return this.#logins.getOrInsertComputed(name, () =>
      logIn({
        url: this.origin,
        authUrl: `${this.origin}/identity/v3`,
        credentials: {
          kind: 'password',
          user: { name, domain },
          password: this.passwordOf(name),
          project: { name: project, domain },
          isSystem: false,
        },
        region: null,
      }),
    )
  }

  /** The library, for what happens elsewhere. */
  async library(name: Name): Promise<Holdfast> {
    return holdfastAt(await this.login(name))
  }

  /** A page in a window of its own, which has nothing of others. */
  async open(path: string, view: View = {}): Promise<Page> {
    const { as = 'carol', theme = 'light', width = 1280, height = 800, zone = 'Europe/Berlin' } = view
    const context = await this.#browser!.newContext({
      baseURL: this.origin,
      colorScheme: theme,
      viewport: { width, height },
      timezoneId: zone,
      locale: 'en-GB',
      hasTouch: view.isTouch ?? false,
      reducedMotion: 'reduce',
    })
    this.#contexts.push(context)
    context.setDefaultTimeout(PATIENCE_MS)
    if (as !== null && !this.#isOpen) {
      const kept = JSON.stringify(await this.login(as))
      await context.addInitScript(text => sessionStorage.setItem('holdfast-login', text), kept)
    }
    const page = await context.newPage()
    this.#listen(page, view.expecting)
    await page.goto(path)
    return page
  }

  /** An error in the console fails the test, and so does whatever the content security policy forbids. */
  #listen(page: Page, expecting: RegExp | undefined): void {
    const complain = (text: string) => {
      if (!expecting?.test(text)) this.#complaints.push(`${new URL(page.url()).pathname}: ${text}`)
    }
    page.on('pageerror', ({ stack, message }) => complain(stack ?? message))
    page.on('console', message => {
      if (message.type() === 'error') complain(`${message.text()} (${message.location().url})`)
    })
    page.on('request', request => {
      const { protocol, origin } = new URL(request.url())
      if (protocol.startsWith('http') && origin !== this.origin) complain(`asks ${request.url()}`)
    })
  }
}

/** A group of tests at one server and one browser. `nodes` is the size of the fleet, from 30 on; 0 for none. */
export function atDashboard(
  name: string,
  body: (dashboard: Dashboard) => void,
  { nodes = 30, ...settings }: Partial<Config> & { nodes?: number } = {},
): void {
  describe(name, { skip: missing }, () => {
    const dashboard = new Dashboard(settings)
    before(() => dashboard.begin(nodes))
    after(() => dashboard.end())
    afterEach(async () => assert.deepEqual(await dashboard.settle(), []))
    body(dashboard)
  })
}

/** No violation of WCAG 2.2 AA that a program can find; of all rules, or only of some. */
export async function axeClean(page: Page, only: readonly string[] = []): Promise<void> {
  const axe = new AxeBuilder({ page }).setLegacyMode(true)
  if (only.length > 0) axe.withRules([...only])
  else axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
  const { violations } = await axe.analyze()
  const told = violations.map(({ id, nodes }) => [
    id,
    ...nodes.map(({ html, failureSummary }) => [html, failureSummary]),
  ])
  assert.deepEqual(told, [], `${new URL(page.url()).pathname}: ${violations.map(({ help }) => help).join('; ')}`)
}
