// npm run screenshots [NAME…]: the pictures in docs/images, of the demo's fleet on a Sunday at 18:12.
// The font is Inter (Debian's fonts-inter), as the system's font would be; the dashboard itself names none.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { gather } from '../src/cli/demo/crowd.ts'
import { fill } from '../src/cli/demo/fill.ts'
import { DEFAULTS, fleetOf } from '../src/cli/demo/fleet.ts'
import { PEOPLE } from '../src/cli/demo/people.ts'
import { addPeople } from '../src/cli/demo/users.ts'
import { systemClock } from '../src/clock/clock.ts'
import { holdfastAt } from '../src/client/index.ts'
import { type Login, logIn } from '../src/client/login.ts'
import { startServer } from '../test/support/server.ts'
import { PICTURES, type Picture } from './screenshots/pictures.ts'
import { toPalette } from './screenshots/palette.ts'

const IMAGES = fileURLToPath(new URL('../docs/images/', import.meta.url))
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
const ZONE = 'Europe/Berlin'
const [SUNDAY, HOUR, MINUTE] = [0, 17, 12]
/** The demo is made some minutes before it is looked at. */
const LEAD_MS = 5 * 60_000
const SETTLE_MS = 1_500

const FONTS = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include>/etc/fonts/fonts.conf</include>
${['system-ui', 'sans-serif', 'sans'].map(font => `<match><test name="family"><string>${font}</string></test><edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>`).join('\n')}
</fontconfig>`

const logins = new Map<string, Promise<Login>>()

const folder = mkdtempSync(join(tmpdir(), 'holdfast-screenshots-'))
const users = join(folder, 'users.yaml')
writeFileSync(users, 'users: {}\nprojects: {}\n')
writeFileSync(join(folder, 'fonts.conf'), FONTS)
const passwords = await addPeople(users, bytes => systemClock.newSecret(bytes))
const database = `sqlite:${join(folder, 'holdfast.db')}`
const settings = { auth: 'password', users, placementPolicy: 'secure', testClock: true } as const
// The port is in the picture of the login: the usual one, if it is free.
const server = await startServer(database, { ...settings, port: 8_780 }).catch(() => startServer(database, settings))
const env = { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf') } as Record<string, string>
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS, env })
try {
  await fillOnSunday(server.origin)
  mkdirSync(IMAGES, { recursive: true })
  const wanted = process.argv.slice(2)
  for (const picture of PICTURES) {
    if (wanted.length === 0 || wanted.includes(picture.name)) await take(browser, picture)
  }
} finally {
  await browser.close()
  await server.stop()
  rmSync(folder, { recursive: true })
}

/** Once for each: every login is an entry of the audit, which is in a picture. */
function loginOf(url: string, name: string): Promise<Login> {
  return logins.getOrInsertComputed(name, () => newLogin(url, name))
}

async function newLogin(url: string, name: string): Promise<Login> {
  const { project } = PEOPLE.find(person => person.name === name)!
  const domain = { name: 'Default' }
  const user = { name, domain }
  const password = passwords[name]!
  const credentials = { kind: 'password', user, password, project: { name: project, domain }, isSystem: false } as const
  return logIn({ url, authUrl: `${url}/identity/v3`, credentials, region: null })
}

/** Makes the demo's fleet at 18:07 of the next Sunday, and then it is 18:12. */
async function fillOnSunday(url: string): Promise<void> {
  const seen = nextSunday(systemClock.now())
  await advance(url, seen - LEAD_MS - systemClock.now())
  // Tokens of before have ended by now.
  logins.clear()
  const ahead = seen - LEAD_MS - systemClock.now()
  const now = () => systemClock.now() + ahead
  const crowd = await gather(holdfastAt(await loginOf(url, 'carol')), passwords, now)
  await fill({ crowd, fleet: fleetOf(DEFAULTS), now, report: () => {} })
  await advance(url, seen - now())
}

function nextSunday(now: number): number {
  const day = new Date(now)
  day.setUTCDate(day.getUTCDate() + ((7 + SUNDAY - day.getUTCDay()) % 7))
  day.setUTCHours(HOUR, MINUTE, 20, 0)
  return day.getTime() - LEAD_MS > now ? day.getTime() : day.getTime() + 7 * 86_400_000
}

async function advance(url: string, ms: number): Promise<void> {
  const { headers } = await loginOf(url, 'carol')
  const answer = await fetch(`${url}/holdfast/v1/clock`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ advance: Math.max(0, ms / 1_000) }),
  })
  if (!answer.ok) throw new Error(await answer.text())
}

async function take(from: Browser, picture: Picture): Promise<void> {
  const { name, path, as = 'carol', theme = 'light', width = 1440, height = 900, isPhone = false, act } = picture
  const context = await from.newContext({
    baseURL: server.origin,
    colorScheme: theme,
    viewport: isPhone ? { width: 390, height: 844 } : { width, height },
    deviceScaleFactor: isPhone ? 2 : 1,
    hasTouch: isPhone,
    isMobile: isPhone,
    timezoneId: ZONE,
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  if (as !== null) {
    const kept = JSON.stringify(await loginOf(server.origin, as))
    await context.addInitScript(`sessionStorage.setItem('holdfast-login', ${JSON.stringify(kept)})`)
  }
  const page = await context.newPage()
  page.on('pageerror', error => console.error(`${name}: ${error.stack}`))
  page.on('console', message => message.type() === 'error' && console.error(`${name}: ${message.text()}`))
  await page.goto(path)
  await page.locator('main h1, main h2').first().waitFor()
  await sleep(SETTLE_MS)
  await act?.(page)
  const png = toPalette(await page.screenshot({ animations: 'disabled' }))
  writeFileSync(join(IMAGES, `dashboard-${name}.png`), png)
  console.log(`dashboard-${name}.png: ${Math.round(png.length / 1_000)} kB`)
  await context.close()
}
