// Every page, as people come to it: light, dark, on a phone, by keyboard, and as someone who may see little.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean, type Dashboard, type Name } from './support.ts'

const ALL = [
  '/ui/now',
  '/ui/now?view=table',
  '/ui/calendar',
  '/ui/queue',
  '/ui/machine/NAME',
  '/ui/mine',
  '/ui/reference',
]
const ADMIN = [...ALL, '/ui/capacity', '/ui/operator']

/** The page with what it shows, once the fleet is there and nothing more is on its way. */
async function shown(dashboard: Dashboard, path: string, view: Parameters<Dashboard['open']>[1] = {}): Promise<Page> {
  const [machine] = (await (await dashboard.library(view.as ?? 'carol')).status()).machines
  const page = await dashboard.open(path.replace('NAME', machine!.name ?? machine!.uuid), view)
  await page.locator('header').getByText(words.shell.live, { exact: true }).waitFor({ state: 'attached' })
  await page.locator('main h1').first().waitFor()
  await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' })
  return page
}

/** How far the page can be moved sideways. */
const overflow = (page: Page) =>
  page.evaluate<number>('document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth')

/** What can be used and seen, but is reached neither by Tab nor by arrows from another of its kind. */
const UNREACHED = `(() => {
  const usable = 'a[href], button, input, select, textarea, summary, [role=button], [role=link], [role=tab]'
  const isSeen = one => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0
  const isOneOf = one => one.closest('[role=grid],[role=treegrid],[role=tablist],[role=radiogroup],[role=menu],[role=listbox]')
  const isLike = one => one.classList.length > 0 && document.querySelector('.' + one.classList[0] + '[tabindex="0"]')
  return [...document.querySelectorAll(usable)]
    .filter(one => !one.disabled && isSeen(one) && !one.closest('[inert],[aria-hidden=true]'))
    .filter(one => one.tabIndex < 0 && !isOneOf(one) && !isLike(one))
    .map(one => one.outerHTML.slice(0, 200))
})()`

/** The element with the focus; whether something lies over all of it, such as a bar that stays while the page moves. */
const FOCUSED = `(() => {
  const one = document.activeElement
  if (one === document.body || one === null) return null
  const { left, right, top, bottom, width, height } = one.getBoundingClientRect()
  const points = [[left + 2, top + 2], [right - 2, top + 2], [(left + right) / 2, (top + bottom) / 2], [left + 2, bottom - 2]]
  const isOver = ([x, y]) => { const found = document.elementFromPoint(x, y); return found && !one.contains(found) && !found.contains(one) }
  const html = one.outerHTML.slice(0, 200)
  return { html, at: html + [width, height, top, left].join(), isHidden: width > 2 && height > 2 && points.every(isOver) }
})()`

/** Presses Tab until the focus is where it began. It is always seen. Returns how many stops there are. */
async function tabThrough(page: Page): Promise<number> {
  const seen: string[] = []
  await page.evaluate('document.activeElement?.blur()')
  for (let i = 0; i < 400; i++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<{ html: string; at: string; isHidden: boolean } | null>(FOCUSED)
    if (focused === null || focused.at === seen[0]) return seen.length
    assert.ok(!focused.isHidden, `hidden while it has the focus: ${focused.html}`)
    seen.push(focused.at)
  }
  return assert.fail('Tab never comes around')
}

atDashboard('the pages of the dashboard', dashboard => {
  for (const path of ADMIN) {
    test(`${path} is clean, light and dark, and all of it is reached by keyboard`, async () => {
      const page = await shown(dashboard, path)
      await axeClean(page)
      assert.deepEqual(await page.evaluate(UNREACHED), [])
      assert.ok((await tabThrough(page)) > 5)
      await page.evaluate('scrollTo(0, 0)')
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.locator('html[data-theme=dark]').waitFor()
      await axeClean(page, ['color-contrast'])
    })

    test(`${path} fits a phone`, async () => {
      const page = await shown(dashboard, path, { width: 390, height: 844, isTouch: true })
      assert.equal(await overflow(page), 0, 'it can be moved sideways')
      await axeClean(page)
    })
  }

  test('a member sees no machine, name or page that isn’t theirs', async () => {
    const theirs = async (name: Name) => {
      const { machines } = await (await dashboard.library(name)).status()
      return new Set(machines.map(machine => machine.name!))
    }
    const [all, own] = [await theirs('carol'), await theirs('bob')]
    const others = [...all.difference(own)]
    assert.ok(others.length > 0 && own.size > 0)
    for (const path of ALL) {
      const page = await shown(dashboard, path, { as: 'bob' })
      const text = (await page.locator('body').innerText()).split(/[^\w-]+/)
      assert.deepEqual(
        text.filter(word => others.includes(word) || /^(alice|carol)$/.test(word)),
        [],
        path,
      )
      for (const hidden of [words.shell.capacity, words.shell.operator]) {
        assert.equal(await page.locator('.nav, .tabs').getByText(hidden).count(), 0, hidden)
      }
    }
    const page = await dashboard.open(`/ui/machine/${others[0]}`, { as: 'bob', expecting: /404/ })
    await page.locator('main').getByText(others[0]!).first().waitFor()
    assert.equal(await page.locator('main').getByRole('button').count(), 0)
  })

  test('by keyboard: past the bar, to another page with its own keys, and on from a button that is gone', async () => {
    const page = await shown(dashboard, '/ui/now')
    const focused = () => page.evaluate<string>('document.activeElement.outerHTML.slice(0, 40)')
    await page.keyboard.press('Tab')
    assert.ok(await page.getByText(words.shell.skip).isVisible())
    await page.keyboard.press('Enter')
    assert.match(await focused(), /^<main/)
    assert.ok(!page.url().includes('#'))
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page.getByRole('button', { name: words.calendar.today, exact: true }).waitFor()
    await page.keyboard.press('?')
    const list = page.getByRole('dialog', { name: words.keys.title })
    await list.getByText(words.calendar.title, { exact: true }).waitFor()
    assert.equal(await list.getByText(words.now.title, { exact: true }).count(), 0)
    await page.keyboard.press('Escape')
    const { nodes } = await dashboard.library('carol')
    const { uuid } = await nodes.create({ name: 'keys-1', driver: 'fake-hardware' })
    const machine = await shown(dashboard, '/ui/machine/keys-1')
    await machine.locator('main header').getByRole('button', { name: 'Manage', exact: true }).press('Enter')
    await machine.locator('main header').getByRole('button', { name: 'Provide', exact: true }).waitFor()
    await machine.waitForFunction('document.activeElement !== document.body')
    // Its page would ask for it once more.
    await machine.close()
    await nodes.delete(uuid)
  })
})
