// The calendar as people use it: bars, zoom and pan, folding, the list, paper, and what changes elsewhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { atDashboard, axeClean } from './support.ts'

const chart = (page: Page) => page.getByRole('treegrid')
const range = (page: Page) => page.getByRole('heading', { level: 1 })
const rows = (page: Page) => page.locator('.p-calendar .row')
/** The lane of a machine. */
const lane = (page: Page, name: string): Locator =>
  rows(page)
    .filter({ has: page.getByRole('link', { name: new RegExp(`^${name} `) }) })
    .locator('.tl-lane')
const textOf = async (locator: Locator) => (await locator.textContent()) ?? ''
const differs = async (locator: Locator, from: string) => {
  await locator.filter({ hasNotText: new RegExp(`^${from}$`) }).waitFor()
  return textOf(locator)
}

/** One finger, from one place to another. */
async function swipe(page: Page, from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints })
  await touch('touchStart', [from])
  for (const share of [0.2, 0.5, 1])
    await touch('touchMove', [{ x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }])
  await touch('touchEnd', [])
}

atDashboard('calendar', dashboard => {
  test('shows who has what, opens a bar with its actions, and folds groups', async () => {
    const page = await dashboard.open('/ui/calendar')
    const { machines } = await (await dashboard.library('carol')).status({})
    const taken = machines.find(({ state, what, until }) => state === 'taken' && what !== null && until !== null)!
    const bar = lane(page, taken.name!).getByRole('button', { name: new RegExp(`^${taken.what}`) })
    await bar.waitFor()
    await axeClean(page)

    await bar.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(taken.who!).waitFor()
    await dialog.getByRole('button', { name: 'Extend…' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    const group = page.getByRole('button', { name: new RegExp(`^${taken.class} `) })
    await group.click()
    await bar.waitFor({ state: 'detached' })
    await group.click()
    await bar.waitFor()
    // Quiet machines are behind a word.
    const before = await chart(page).getAttribute('aria-rowcount')
    const quiet = page.getByRole('button', { name: /^\d+ quiet$/ }).first()
    await quiet.click()
    assert.notEqual(await chart(page).getAttribute('aria-rowcount'), before)
  })

  test('zooms and pans by buttons, keys and wheel, and the address survives a reload', async () => {
    const page = await dashboard.open('/ui/calendar')
    await rows(page).first().waitFor()
    const first = await textOf(range(page))
    await page.getByRole('button', { name: 'Later', exact: true }).click()
    const second = await differs(range(page), first)
    await page.keyboard.press('t')
    assert.equal(await differs(range(page), second), first)

    await page.keyboard.press('-')
    await page.getByRole('radio', { name: 'Month', checked: true }).waitFor()
    await page.keyboard.press('ArrowRight')
    const month = await differs(range(page), first)
    await page.waitForURL(/span=month/)
    await page.waitForURL(/from=\d{4}-\d{2}-\d{2}/)
    await page.reload()
    await range(page).filter({ hasText: month }).waitFor()
    await page.getByRole('radio', { name: 'Month', checked: true }).waitFor()

    await page.keyboard.press('t')
    await page.getByRole('radio', { name: '2 weeks' }).click()
    await range(page).filter({ hasText: first }).waitFor()
    await rows(page).first().hover()
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -100)
    await page.keyboard.up('Control')
    await page.getByRole('radio', { name: 'Week', exact: true, checked: true }).waitFor()
    const zoomed = await textOf(range(page))
    await page.keyboard.down('Shift')
    await page.mouse.wheel(0, 900)
    await page.keyboard.up('Shift')
    await differs(range(page), zoomed)
  })

  test('every row and bar is reached with the keyboard', async () => {
    const page = await dashboard.open('/ui/calendar?rows=machine')
    const { machines } = await (await dashboard.library('carol')).status({})
    const at = machines.findIndex(({ state, what, until }) => state === 'taken' && what !== null && until !== null)
    const machine = machines[at]!
    await rows(page).first().getByRole('link').focus()
    for (let step = 0; step < at; step++) await page.keyboard.press('ArrowDown')
    await page.locator(`.row:focus-within`).getByRole('link', { name: machine.name! }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.locator('.tl-lane:focus .tl-cursor').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Tab')
    await page.locator('.tl-b:focus').waitFor()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(machine.what!).first().waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.tl-b:focus').waitFor()
  })

  test('the list has the same, in UTC too, and what changes elsewhere comes by itself', async () => {
    const page = await dashboard.open('/ui/calendar?view=list')
    const server = await dashboard.library('carol')
    const { machines } = await server.status({})
    const broken = machines.find(({ state }) => state === 'broken')!
    const free = machines.find(({ state, bookable }) => state === 'free' && !bookable)!
    await page.getByRole('row', { name: new RegExp(`^${broken.name} .*broken`) }).waitFor()
    await axeClean(page)
    const time = page.locator('.list time').first()
    const local = await textOf(time)
    await page.keyboard.press('u')
    assert.notEqual(await differs(time, local), local)

    await server.nodes.startMaintenance(free.uuid, 'a fan is loud')
    await page.getByRole('row', { name: new RegExp(`^${free.name} a fan is loud`) }).waitFor()
    await page.getByRole('button', { name: 'As a chart', exact: true }).click()
    await lane(page, free.name!)
      .getByRole('button', { name: /^a fan is loud/ })
      .waitFor()
    await server.nodes.endMaintenance(free.uuid)
    await lane(page, free.name!).waitFor({ state: 'detached' })
  })

  test('filters are in the address, and paper has the chart and the list', async () => {
    const page = await dashboard.open('/ui/calendar?class=gpu-*&rows=class')
    await page.getByRole('button', { name: /^gpu-/ }).first().waitFor()
    assert.equal(await page.getByRole('button', { name: /^cpu-/ }).count(), 0)
    await page.emulateMedia({ media: 'print' })
    await page.getByRole('table').waitFor()
    await chart(page).waitFor()
    assert.ok((await page.locator('.list tbody tr').count()) > 0)
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('button', { name: 'Drop the filter class' }).click()
    await page.getByRole('button', { name: /^cpu-/ }).first().waitFor()
    assert.equal(new URL(page.url()).searchParams.has('class'), false)
  })

  test('a member sees what is theirs by name, and gets an address to subscribe to once', async () => {
    const page = await dashboard.open('/ui/calendar?rows=machine', { as: 'alice' })
    await rows(page).first().waitFor()
    const { machines } = await (await dashboard.library('alice')).status({})
    assert.equal(await chart(page).getAttribute('aria-rowcount'), `${machines.length + 2}`)
    await page.getByRole('button', { name: 'Subscribe' }).click()
    const sheet = page.getByRole('dialog', { name: 'Subscribe' })
    await sheet.getByRole('button', { name: 'Make an address' }).click()
    await sheet.getByText(/\/calendar\/.+\.ics$/).waitFor()
    await sheet.getByText('Of a user').waitFor()
    await sheet.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Delete it' }).click()
    await sheet.getByText('Of a user').waitFor({ state: 'detached' })
  })

  test('a phone shows a part of the time, dark or light', async () => {
    const page = await dashboard.open('/ui/calendar', { width: 390, height: 844, theme: 'dark', isTouch: true })
    await rows(page).first().waitFor()
    await axeClean(page)
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(wide <= 390, `the page is ${wide} px wide`)
    const before = await textOf(range(page))
    await swipe(page, { x: 330, y: 500 }, { x: 130, y: 500 })
    await differs(range(page), before)
  })
})
