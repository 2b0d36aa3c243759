// One machine in the browser: what can be done with it, and what is seen of it as it happens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Machine } from '../../src/client/index.ts'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean, type Dashboard } from './support.ts'

async function oneOf(dashboard: Dashboard, isIt: (machine: Machine) => boolean): Promise<Machine & { name: string }> {
  const { machines } = await (await dashboard.library('carol')).status()
  const found = machines.find(isIt)
  assert.ok(found?.name, 'the demo has such a machine')
  return found as Machine & { name: string }
}

const isFree = ({ state, bookable }: Machine) => state === 'free' && !bookable
const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const verb = (page: Page, state: string, name: string) =>
  page.locator('.path > li').filter({ hasText: state }).getByRole('button', { name, exact: true })
const here = (page: Page, state: string) => page.locator('.path [aria-current=step]', { hasText: state })
const past = (page: Page, text: string) => page.locator('.hist li', { hasText: text }).first()

atDashboard('a machine in the dashboard', dashboard => {
  test('verbs are enabled as the state table says, and one that runs is shown until it is done', async () => {
    const { name } = await oneOf(dashboard, isFree)
    const page = await dashboard.open(`/ui/machine/${name}`)
    await here(page, 'available').waitFor()
    assert.ok(await verb(page, 'available', 'deploy').isEnabled())
    for (const [state, word] of [
      ['enroll', 'manage'],
      ['manageable', 'provide'],
      ['active', 'undeploy'],
    ] as const) {
      assert.ok(await verb(page, state, word).isDisabled(), word)
      assert.equal(await verb(page, state, word).getAttribute('title'), words.machine.onlyFrom(state))
    }
    await axeClean(page)
    await verb(page, 'available', 'deploy').click()
    await dialog(page).getByText(words.verbs.means.deploy).waitFor()
    await axeClean(page)
    await dialog(page).getByRole('button', { name: words.verbs.bare.deploy, exact: true }).click()
    await page.getByRole('progressbar').waitFor()
    await here(page, 'active').waitFor()
    await past(page, 'active').waitFor()
    assert.ok(await verb(page, 'active', 'undeploy').isEnabled())
    assert.ok(await verb(page, 'available', 'deploy').isDisabled())
  })

  test('maintenance and notes happen at once and can be taken back; the history grows by itself', async () => {
    const { name, uuid } = await oneOf(dashboard, isFree)
    const library = await dashboard.library('carol')
    const page = await dashboard.open(`/ui/machine/${name}`)
    await button(page, words.verbs.text.maintenance).click()
    await dialog(page).getByLabel(words.verbs.reason).fill('a fan')
    await dialog(page).getByRole('button', { name: words.verbs.start }).click()
    await page.getByRole('heading', { level: 1 }).getByText('maintenance').waitFor()
    await page.getByText('a fan').first().waitFor()
    await past(page, words.machine.story.somebody.inMaintenance).waitFor()
    await button(page, words.doing.undo).click()
    await page.getByRole('heading', { level: 1 }).getByText('free').waitFor()
    await past(page, words.machine.story.somebody.maintained).waitFor()

    await page.keyboard.press('n')
    await dialog(page).getByLabel(words.verbs.note, { exact: true }).fill('loud')
    await dialog(page).getByRole('button', { name: words.verbs.write }).click()
    await page.locator('.note', { hasText: 'loud' }).waitFor()
    assert.equal((await library.nodes.show(uuid))['description'], 'loud')

    // Someone else does something.
    await library.nodes.addTrait(uuid, 'CUSTOM_SEEN_LIVE')
    await page.locator('.traits', { hasText: 'SEEN_LIVE' }).waitFor()
    await past(page, words.machine.story.somebody.traits).waitFor()
    await button(page, words.machine.whoHad).click()
    await page.getByText(words.machine.nobodyYet).waitFor()
    await page.keyboard.press('j')
    await page.waitForURL(url => !url.pathname.endsWith(name))
  })

  test('the console: what the machine prints is seen, what is typed arrives, and it can be left by keyboard', async () => {
    const { name, uuid } = await oneOf(dashboard, isFree)
    const page = await dashboard.open(`/ui/machine/${name}`)
    await button(page, words.machine.console.open).click()
    const terminal = page.getByRole('textbox', { name: words.machine.console.label(name) })
    await terminal.getByText(`${name}: a machine that is not there`).waitFor()
    await page.keyboard.type('njk')
    await page.keyboard.press('Enter')
    await terminal.getByText('$ njk').waitFor()
    assert.ok(page.url().endsWith(name), 'keys of the page are typed here')
    await axeClean(page)
    const library = await dashboard.library('carol')
    await library.nodes.power(uuid, 'power on')
    await terminal.getByText('power on: power on').waitFor()
    await page.keyboard.press('Control+]')
    await page.keyboard.press('Enter')
    await terminal.waitFor({ state: 'detached' })
    await library.nodes.setConsole(uuid, false)
  })

  test('a refusal is told in the sheet, and what was typed stays', async () => {
    const { name } = await oneOf(dashboard, isFree)
    const page = await dashboard.open(`/ui/machine/${name}`, { expecting: /400/ })
    await page.locator('.traits').getByRole('button').click()
    const field = dialog(page).getByLabel(words.verbs.newTrait)
    await field.fill('NO_SUCH_TRAIT')
    await field.press('Enter')
    await dialog(page).getByRole('alert').waitFor()
    assert.equal(await field.inputValue(), 'NO_SUCH_TRAIT')
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
  })

  test('who keeps a machine is asked to let go, with a message', async () => {
    const bob = await dashboard.library('bob')
    const { machines } = await bob.status()
    const free = machines.find(({ may, class: wanted }) => may.includes('allocate') && wanted !== null)!
    await bob.allocations.create({
      name: 'kept',
      resource_class: free.class!,
      candidate_nodes: [free.uuid],
      expires_at: '1h',
      keeper: 'bob/0123456789abcdef',
    })
    await bob.allocations.wait('kept')
    const page = await dashboard.open(`/ui/machine/${free.name}`)
    await button(page, words.verbs.text.kick).click()
    const act = dialog(page).getByRole('button', { name: words.verbs.takeBack })
    await dialog(page).getByLabel(words.verbs.message('bob')).waitFor()
    assert.ok(await act.isDisabled())
    await axeClean(page)
    await dialog(page).getByLabel(words.verbs.message('bob')).fill('the demo needs it')
    await act.click()
    await page.getByText(words.verbs.askedBack(free.name!)).waitFor()
    assert.equal((await bob.allocations.show('kept')).ending?.message, 'the demo needs it')
  })

  test('members see their own on a phone, without what is the operators’; foreign ones aren’t there', async () => {
    const mine = await oneOf(dashboard, ({ who, provision }) => who === 'alice' && provision === 'active')
    const page = await dashboard.open(`/ui/machine/${mine.name}`, {
      as: 'alice',
      width: 390,
      height: 844,
      theme: 'dark',
    })
    await page.getByText(`ssh ${mine.name}`).waitFor()
    await axeClean(page)
    const text = (await page.locator('.p-machine').textContent())!
    for (const hidden of [words.machine.whose.driver, words.machine.reach.bmc, words.machine.bootFrom, 'carol'])
      assert.ok(!text.includes(hidden), hidden)
    assert.equal(await verb(page, 'manageable', 'provide').count(), 0)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.equal(width, 390)

    const theirs = await oneOf(dashboard, ({ who }) => who === 'bob')
    const foreign = await dashboard.open(`/ui/machine/${theirs.name}`, { as: 'alice', expecting: /404/ })
    await foreign.getByText(words.machine.missing(theirs.name)).waitFor()
  })
})
