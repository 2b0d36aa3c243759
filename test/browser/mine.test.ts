// What I have, in the browser: extended, released, and taken elsewhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Machine } from '../../src/client/index.ts'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean, type Dashboard } from './support.ts'

const HOUR_MS = 3_600_000
const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const row = (page: Page, { name }: Machine) => page.locator('.tw tr', { hasText: name! })

/** The API has no fractions of seconds. */
const second = (at: number) => Math.floor(at / 1_000) * 1_000

/** What alice has, the first to end first. */
async function minesOf(dashboard: Dashboard): Promise<(Machine & { until: string })[]> {
  const { machines } = await (await dashboard.library('alice')).status({ mine: true })
  const timed = machines.filter((machine): machine is Machine & { until: string } => machine.until !== null)
  return timed
    .filter(({ kind }) => kind === 'allocation')
    .toSorted((a, b) => a.until.localeCompare(b.until) || a.name!.localeCompare(b.name!))
}

async function untilOf(dashboard: Dashboard, { id }: Machine): Promise<number> {
  return Date.parse((await (await dashboard.library('alice')).allocations.show(id!)).expires_at!)
}

async function logIn(page: Page, user: string, password: string) {
  await page.getByLabel(words.login.user, { exact: true }).fill(user)
  await page.getByLabel(words.login.password, { exact: true }).fill(password)
  await page.getByRole('button', { name: words.login.enter, exact: true }).click()
}

/** Gives alice a machine for an hour that is booked from two hours on. Returns when. */
async function giveUntilBooked(dashboard: Dashboard, name: string): Promise<number> {
  const admin = await dashboard.library('carol')
  const alice = await dashboard.library('alice')
  const { machines } = await admin.status()
  const free = machines.find(({ state, bookable }) => state === 'free' && !bookable)
  assert.ok(free?.class)
  await admin.leasableNodes.enrol(free.uuid)
  await admin.nodes.update(free.uuid, [{ op: 'add', path: '/lessee', value: alice.project }])
  const start = Math.ceil((Date.now() + 2 * HOUR_MS) / 60_000) * 60_000
  const date = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  const wanted = { resource_type: 'physical:node', resource_class: free.class, min: 1, max: 1 }
  await admin.leases.create({
    name: 'in-the-way',
    start_date: date(start),
    end_date: date(start + HOUR_MS),
    reservations: [{ ...wanted, candidate_nodes: [free.uuid] }],
  })
  await alice.allocations.create({
    name,
    resource_class: free.class,
    candidate_nodes: [free.uuid],
    expires_at: '1h',
  })
  await alice.allocations.wait(name)
  return start
}

atDashboard('mine in the dashboard', dashboard => {
  test('what ends next is extended at once and taken back; what doesn’t fit is told, with the longest that does', async () => {
    const booked = await giveUntilBooked(dashboard, 'ends-first')
    const [first] = await minesOf(dashboard)
    assert.equal(first?.what, 'ends-first')
    const page = await dashboard.open('/ui/mine', { as: 'alice', expecting: /409/ })
    await page.locator('.hero', { hasText: first.what }).waitFor()
    await axeClean(page)
    await button(page, words.verbs.plus4h).click()
    await dialog(page).getByRole('alert').waitFor()
    assert.ok(await dialog(page).getByRole('button', { name: words.verbs.extend, exact: true }).isDisabled())
    await axeClean(page)
    await dialog(page)
      .getByRole('button', { name: /longest/ })
      .click()
    await dialog(page).getByRole('alert').waitFor({ state: 'detached' })
    await dialog(page).getByRole('button', { name: words.verbs.extend, exact: true }).click()
    await dialog(page).waitFor({ state: 'detached' })
    assert.equal(await untilOf(dashboard, first), booked)
    await button(page, words.doing.undo).click()
    await page.locator('.toast', { hasText: words.doing.undone('') }).waitFor()
    assert.equal(await untilOf(dashboard, first), second(Date.parse(first.until)))
    await (await dashboard.library('alice')).allocations.delete(first.id!)

    // What is there now fits.
    const [next] = await minesOf(dashboard)
    await page.locator('.hero', { hasText: next!.what! }).waitFor()
    await button(page, words.verbs.plus4h).click()
    await page.locator('.toast', { hasText: next!.what! }).waitFor()
    assert.equal(await untilOf(dashboard, next!), second(Date.parse(next!.until)) + 4 * HOUR_MS)
  })

  test('many are selected by keys and extended together; what is released is gone after a question', async () => {
    const mines = await minesOf(dashboard)
    const page = await dashboard.open('/ui/mine', { as: 'alice' })
    await page.locator('.tw tbody a').first().waitFor()
    for (const _ of [1, 2]) {
      await page.keyboard.press('j')
      await page.keyboard.press('x')
    }
    await page.getByText(words.mine.selected(2)).waitFor()
    await page.keyboard.press('e')
    await dialog(page).getByRole('button', { name: words.verbs.until }).click()
    await dialog(page).getByRole('textbox').fill('nonsense')
    await dialog(page).getByText(words.verbs.unclear).waitFor()
    await dialog(page).getByRole('textbox').fill('9d')
    await dialog(page).getByRole('button', { name: words.verbs.extend, exact: true }).click()
    await dialog(page).waitFor({ state: 'detached' })
    const later = await minesOf(dashboard)
    assert.equal(later.filter(({ until }) => Date.parse(until) > Date.now() + 8 * 24 * HOUR_MS).length, 2)

    const one = mines.at(-1)!
    await row(page, one)
      .getByRole('button', { name: words.mine.moreOf(one.what!) })
      .click()
    await page.getByRole('menuitem', { name: words.verbs.text.release }).click()
    await dialog(page).getByText(one.what!).waitFor()
    await axeClean(page)
    await dialog(page).getByRole('button', { name: words.verbs.release, exact: true }).click()
    await dialog(page).waitFor({ state: 'detached' })
    await page.mouse.move(0, 0)
    await page.locator('#main').focus()
    await row(page, one).waitFor({ state: 'detached' })
  })

  test('secrets are shown once: of a credential, and of a calendar’s address', async () => {
    const page = await dashboard.open('/ui/mine', {
      as: 'alice',
      width: 390,
      height: 844,
      theme: 'dark',
      isTouch: true,
    })
    await page.locator('.tw tbody a').first().waitFor()
    await axeClean(page)
    assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 390)
    await page.getByRole('button', { name: words.mine.credentials.title }).click()
    await dialog(page).getByLabel(words.mine.name).fill('ci')
    await dialog(page).getByRole('button', { name: words.mine.credentials.make }).click()
    const secret = (await dialog(page).locator('.once code').last().textContent())!
    assert.ok(secret.length > 20)
    await axeClean(page)
    await dialog(page).getByRole('button', { name: words.mine.done }).click()
    await dialog(page).locator('.things', { hasText: 'ci' }).waitFor()
    assert.ok(!(await page.content()).includes(secret))
    await dialog(page)
      .getByRole('button', { name: words.mine.deleteOf('ci') })
      .click()
    await dialog(page).getByRole('alertdialog').getByRole('button', { name: words.mine.delete }).click()
    await dialog(page).locator('.things li').first().waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: words.mine.calendar.title }).click()
    await button(page, words.mine.make).click()
    const address = (await dialog(page).locator('.once code').textContent())!
    assert.match(address, /\/holdfast\/v1\/calendar\//)
    assert.equal((await fetch(address)).status, 200)
  })

  test('the password is changed, which ends no more than other logins; who is new has nothing yet', async () => {
    const page = await dashboard.open('/ui/mine', { as: 'bob', expecting: /401/ })
    const change = async (present: string, wanted: string) => {
      await dialog(page).getByLabel(words.mine.password.present).fill(present)
      await dialog(page).getByLabel(words.mine.password.wanted, { exact: true }).fill(wanted)
      await dialog(page).getByLabel(words.mine.password.again).fill(wanted)
      await dialog(page).getByRole('button', { name: words.mine.password.act }).click()
    }
    await page.getByRole('button', { name: words.mine.password.change }).click()
    await change('wrong', 'a new secret')
    await dialog(page).getByRole('alert').waitFor()
    await change(dashboard.passwordOf('bob'), 'a new secret')
    await page.getByText(words.mine.password.changed).waitFor()
    await page.locator('.tw tbody a').first().waitFor()
    const again = await dashboard.open('/ui/mine', { as: null })
    await logIn(again, 'bob', 'a new secret')
    await again.locator('.tw tbody a').first().waitFor()

    const { users, projects } = await dashboard.library('carol')
    const dora = await users.create({ name: 'dora', password: 'quite new' })
    await users.grant({ user: dora.id, project: await projects.resolve('vision'), role: 'member' })
    const hers = await dashboard.open('/ui/mine', { as: null })
    await logIn(hers, 'dora', 'quite new')
    await hers.getByText(words.mine.nothing).waitFor()
    await axeClean(hers)
  })
})
