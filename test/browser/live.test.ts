// What happens elsewhere shows in the dashboard by itself, and a server that goes away is told and comes back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean, type Dashboard } from './support.ts'

/** What a browser says by itself of a server that is away. */
const AWAY = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|503/

const inQueue = (page: Page, count: number) =>
  page.locator('header').getByTitle(words.shell.wait(count), { exact: true })
const isLive = (page: Page) => page.locator('header').getByText(words.shell.live, { exact: true })

/** One more waits for what is never there; by plain HTTP, as any client. */
async function wait(dashboard: Dashboard, name: string): Promise<number> {
  const { headers } = await dashboard.login('carol')
  const made = await fetch(`${dashboard.origin}/baremetal/v1/allocations`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.83' },
    body: JSON.stringify({ name, resource_class: 'gpu-h100', candidate_nodes: [], wait_until: '1h' }),
  })
  assert.equal(made.status, 201, await made.text())
  const { waiting } = await (await dashboard.library('carol')).status()
  return waiting.filter(({ state }) => state === 'waiting').length
}

/** As when another tab is brought to the front: here all of them are. */
async function look(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' })`,
  )
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
}

atDashboard('the dashboard, live', dashboard => {
  test('a change elsewhere shows by itself', async () => {
    const page = await dashboard.open('/ui/queue')
    await isLive(page).waitFor()
    await inQueue(page, await wait(dashboard, 'from-elsewhere')).waitFor()
  })

  test('a server that is gone is told, and nothing is lost when it is back', async () => {
    const page = await dashboard.open('/ui/queue', { expecting: AWAY })
    await isLive(page).waitFor()
    await dashboard.stop()
    const banner = page.getByRole('alert').filter({ hasText: words.shell.trueThen })
    await banner.waitFor()
    await axeClean(page)
    await dashboard.start()
    const count = await wait(dashboard, 'meanwhile')
    await banner.waitFor({ state: 'detached' })
    await isLive(page).waitFor()
    await inQueue(page, count).waitFor()
  })

  test('tabs that nobody looks at keep no connection from the others, and catch up when they are looked at', async () => {
    const page = await dashboard.open('/ui/queue')
    await isLive(page).waitFor()
    const tabs = [page]
    // A browser has six connections for a server.
    for (let i = 0; i < 7; i++) {
      await look(tabs.at(-1)!, 'hidden')
      const next = await page.context().newPage()
      await next.goto('/ui/queue')
      await isLive(next).waitFor()
      tabs.push(next)
    }
    const count = await wait(dashboard, 'unseen')
    await inQueue(tabs.at(-1)!, count).waitFor()
    await look(page, 'visible')
    await inQueue(page, count).waitFor()
  })

  test('after an upgrade it offers the newer dashboard, and loads it when it lacks a page', async () => {
    const page = await dashboard.open('/ui/queue', { expecting: /ERR_|503|404|imported module/ })
    await isLive(page).waitFor()
    await dashboard.stop()
    await page.getByText(words.shell.trueThen).waitFor()
    await page.route('**/ui/', route => route.fulfill({ contentType: 'text/html', body: '<script src="/ui/x.js">' }))
    await dashboard.start()
    await page.getByText(words.shell.newVersion).waitFor()
    await page.route('**/ui/assets/operator-*.js', route => route.fulfill({ status: 404 }))
    const loaded = page.waitForEvent('load')
    await page.getByRole('link', { name: words.shell.operator }).first().click()
    await loaded
    assert.match(page.url(), /\/ui\/operator/)
  })
})
