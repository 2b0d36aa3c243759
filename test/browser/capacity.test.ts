// The page Capacity: a question to Placement, its answer, and what the providers have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean } from './support.ts'

const SAID = words.capacity
/** The demo has GPUs of both kinds, but none with all of this. */
const QUERY = 'resources=VCPU:8,VGPU:4&required=CUSTOM_NVLINK'

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const textField = (page: Page) => page.getByLabel(SAID.query)

atDashboard('the page Capacity', dashboard => {
  test('a question in the address is answered by a funnel, and a change that helps is one click', async () => {
    const { relaxations } = await (
      await dashboard.library('carol')
    ).candidates.explain({ resources: 'VCPU:8,VGPU:4', required: 'CUSTOM_NVLINK' })
    const [change] = relaxations
    assert.ok(change)
    const page = await dashboard.open(`/ui/capacity?${QUERY}`)
    await page.getByText(SAID.fitsNowhere).waitFor()
    assert.equal(await textField(page).inputValue(), QUERY)
    await page.getByRole('heading', { name: SAID.funnelOf('4', 'VGPU'), exact: true }).waitFor()
    assert.equal(await page.locator('.field.bad').innerText(), 'NVLINK')
    const marked = page.getByRole('row').filter({ hasText: SAID.wouldDo('without NVLINK') })
    await marked.first().waitFor()
    assert.equal(await marked.count(), change.roots)
    await axeClean(page)
    await page
      .getByRole('button', { name: /^Leave out NVLINK/ })
      .first()
      .press('Enter')
    await page.getByText(SAID.fits(change.roots)).waitFor()
    assert.equal(new URL(page.url()).search, '?resources=VCPU:8,VGPU:4')
    await page.locator('.cand li').first().waitFor()
    assert.equal(await page.getByRole('row').filter({ hasText: SAID.doesFit }).count(), change.roots)
  })

  test('chips and text are the same question, and Placement’s own words say what is wrong with it', async () => {
    const page = await dashboard.open('/ui/capacity', { expecting: /400/ })
    await page.getByRole('button', { name: words.fields.add(SAID.resource) }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('vcpu')
    await page.keyboard.press('Enter')
    await page.getByText(/^It fits/).waitFor()
    await page.getByLabel(SAID.amountOf('VCPU')).fill('100000')
    await page.keyboard.press('Enter')
    await page.getByText(SAID.fitsNowhere).waitFor()
    assert.equal(await textField(page).inputValue(), 'resources=VCPU:100000')
    await textField(page).fill('resources=VCPU:many')
    await page.keyboard.press('Enter')
    await page.getByText('Requested resource VCPU expected positive integer amount. Got: many.').waitFor()
    assert.equal(await textField(page).getAttribute('aria-invalid'), 'true')
    await textField(page).fill('resources=VCPU:1&resources1=VCPU:1&limit=3')
    await page.keyboard.press('Enter')
    await page.getByText(/^It fits/).waitFor()
    await page.getByRole('group', { name: SAID.groupOf('1') }).waitFor()
    await page.getByRole('button', { name: SAID.clear }).click()
    await page.getByText(SAID.startHint).waitFor()
  })

  test('the tree opens by keys, and is filtered; machines are beside the hosts', async () => {
    const page = await dashboard.open('/ui/capacity', { theme: 'dark', width: 390 })
    const host = rowOf(page, 'gpu-host-01').first()
    await host.click()
    const child = rowOf(page, 'numa0').first()
    await child.waitFor()
    await page.keyboard.press('ArrowLeft')
    await child.waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowRight')
    await child.waitFor()
    assert.equal(await host.getAttribute('aria-expanded'), 'true')
    await axeClean(page)
    await page.getByLabel(SAID.filter).fill('nobody is called so')
    await page.getByText(SAID.noMatch('nobody is called so')).waitFor()
    await page.getByRole('button', { name: SAID.dropFilter }).click()
    await page.getByRole('button', { name: new RegExp(SAID.machinesTab) }).click()
    await page.getByRole('table', { name: SAID.machinesTab }).waitFor()
    assert.ok(page.url().includes('tab=machines'))
    await axeClean(page)
  })

  test('a claim elsewhere shows by itself', async () => {
    const holdfast = await dashboard.library('carol')
    const found = (await holdfast.capacity()).find(({ name }) => name === 'gpu-host-01_numa0')
    assert.ok(found)
    const [used] = found.inventories['VCPU']!
    const page = await dashboard.open('/ui/capacity?q=gpu-host-01_numa0')
    const row = rowOf(page, 'numa0').first()
    await row.getByText(`${used} /`).first().waitFor()
    const consumer = '6f1d3c1e-2a57-4b7e-9a40-3d0f5b0c7a11'
    await holdfast.claims.set(consumer, { [found.uuid]: { resources: { VCPU: 1 } } })
    await row
      .getByText(`${used + 1} /`)
      .first()
      .waitFor()
    await holdfast.claims.delete(consumer)
    await row.getByText(`${used} /`).first().waitFor()
  })

  test('members are told that it is not for them', async () => {
    const page = await dashboard.open('/ui/capacity', { as: 'alice', expecting: /403/ })
    await page.getByText(SAID.forOperators).waitFor()
    assert.equal(await page.getByRole('link', { name: words.shell.capacity }).count(), 0)
  })
})
