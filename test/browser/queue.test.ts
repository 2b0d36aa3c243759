// The page Queue: who waits and when it is likely their turn, and what can be done about it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Waiting } from '../../src/client/status.ts'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean, type Dashboard } from './support.ts'

const SAID = words.queue

const clock = (at: string) =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'Europe/Berlin' }).format(
    Date.parse(at),
  )

const cardOf = (page: Page, name: string) =>
  page.getByRole('article').filter({ has: page.getByRole('heading', { name: new RegExp(`^${name}( |$)`) }) })

async function waitingOf(dashboard: Dashboard, state: Waiting['state'] = 'waiting'): Promise<Waiting[]> {
  const { waiting } = await (await dashboard.library('carol')).status()
  return waiting.filter(row => row.state === state)
}

atDashboard('the page Queue', dashboard => {
  test('says who waits, at which place, until when, and who is in the way', async () => {
    const [first, ...others] = await waitingOf(dashboard)
    assert.ok(first)
    const page = await dashboard.open('/ui/queue')
    for (const { name, place, of, who } of [first, ...others]) {
      const card = cardOf(page, name!)
      await card.getByText(SAID.outOf(of)).waitFor()
      assert.ok((await card.innerText()).includes(`${place}`))
      await card.getByRole('link', { name: who!, exact: true }).waitFor()
    }
    const card = cardOf(page, first.name!)
    if (first.start !== null) await card.getByText(clock(first.start)).first().waitFor()
    await card.getByRole('img', { name: SAID.whenFree(first.suits.length) }).waitFor()
    await card.getByRole('button', { name: SAID.why }).click()
    await card.getByText(SAID.whyTitle(first.suits.length)).waitFor()
    assert.equal(await card.getByRole('row').count(), first.suits.length + 1)
    await axeClean(page)
    await page.getByRole('button', { name: SAID.mine, exact: true }).click()
    await page.getByRole('heading', { name: SAID.youDont }).waitFor()
    assert.ok(page.url().endsWith('?who=mine'))
  })

  test('a priority is raised, and taken back', async () => {
    const holdfast = await dashboard.library('carol')
    const priority = async () => (await holdfast.queue.shares()).find(({ project }) => project === 'nlp')?.priority ?? 0
    const page = await dashboard.open('/ui/queue')
    await page.getByText(SAID.fifo).waitFor()
    const raise = page.getByRole('button', { name: SAID.raise('nlp') })
    await raise.click()
    await raise.click()
    await page
      .getByRole('status')
      .filter({ hasText: SAID.setTo('nlp', 2) })
      .last()
      .waitFor()
    assert.equal(await priority(), 2)
    await page.getByRole('button', { name: words.doing.undo }).click()
    await page.getByText(words.doing.undone(SAID.setTo('nlp', 2))).waitFor()
    assert.equal(await priority(), 0)
  })

  test('who waits may wait longer, with a way back', async () => {
    const [{ name, uuid, gives_up }] = (await waitingOf(dashboard)) as [Waiting]
    const untilNow = async () => (await waitingOf(dashboard)).find(row => row.uuid === uuid)!.gives_up!
    const page = await dashboard.open('/ui/queue')
    await cardOf(page, name!).getByRole('button', { name: SAID.waitLonger }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByLabel(SAID.waitUntil).fill('no time at all')
    await sheet.getByLabel(SAID.waitUntil).blur()
    await sheet.locator('.fd.wrong').waitFor()
    await sheet.getByRole('button', { name: SAID.waitSteps[1][0] }).click()
    await sheet.getByLabel(SAID.waitUntil).fill('10d')
    await axeClean(page)
    await sheet.getByRole('button', { name: SAID.waitVerb, exact: true }).click()
    await page.getByRole('button', { name: words.doing.undo }).click()
    await page.getByText(/^Undone/).waitFor()
    assert.equal(await untilNow(), gives_up)
  })

  test('one that gave up says why, and a change that would help makes a new request', async () => {
    const holdfast = await dashboard.library('carol')
    const gaveUp = await waitingOf(dashboard, 'gave up')
    const page = await dashboard.open('/ui/queue')
    for (const { name } of gaveUp) await cardOf(page, name!).waitFor()
    const helped = gaveUp.find(({ relaxations }) => relaxations.length > 0)
    assert.ok(helped)
    const card = cardOf(page, helped.name!)
    await card.getByText(SAID.wouldHelp).waitFor()
    await card.locator('.fun li').first().waitFor()
    await card
      .getByRole('button', { name: /^Leave out/ })
      .first()
      .click()
    await page.getByText(SAID.asked(`${helped.name}-2`)).waitFor()
    const made = await holdfast.allocations.wait(`${helped.name}-2`)
    assert.equal(made.project_name, helped.project)
    assert.equal(made.traits.length, helped.traits.length - 1)
    await page.getByRole('button', { name: words.doing.undo }).click()
    await page.getByText(words.doing.undone(SAID.asked(`${helped.name}-2`))).waitFor()
    await assert.rejects(holdfast.allocations.show(`${helped.name}-2`), { status: 404 })
  })

  test('a member sees the own project’s requests alone, and nothing of priorities', async () => {
    const page = await dashboard.open('/ui/queue', { as: 'bob', width: 390, theme: 'dark' })
    const all = await waitingOf(dashboard)
    const [own, foreign] = [all.find(({ project }) => project === 'nlp'), all.find(({ project }) => project !== 'nlp')]
    assert.ok(own && foreign)
    await cardOf(page, own.name!).waitFor()
    assert.equal(await cardOf(page, foreign.name!).count(), 0)
    assert.equal(await page.getByText(SAID.priorities).count(), 0)
    const text = await page.locator('main').innerText()
    for (const name of ['alice', 'carol', 'vision']) assert.ok(!text.includes(name), name)
    await axeClean(page)
  })

  test('it is your turn, until you have seen it; and a cancelled request is gone', async () => {
    const holdfast = await dashboard.library('carol')
    const { machines, waiting } = await holdfast.status()
    const isQuiet = (kind: string | null) => waiting.every(row => row.class !== kind)
    const had = machines.find(
      ({ class: kindOf, kind, provision, may }) =>
        isQuiet(kindOf) && kind === 'allocation' && provision === 'available' && may.includes('kick'),
    )
    assert.ok(had)
    const wanted = { resource_class: had.class!, candidate_nodes: [had.uuid], wait_until: '1h' }
    await holdfast.allocations.create({ ...wanted, name: 'carols-turn', expires_at: '2h' })
    await holdfast.allocations.create({ ...wanted, name: 'carols-other' })
    const page = await dashboard.open('/ui/queue?who=mine')
    await cardOf(page, 'carols-turn').getByText(SAID.nobodyBefore).waitFor()
    await cardOf(page, 'carols-other')
      .getByText(SAID.behind([SAID.request('carols-turn', 'carol')], 0))
      .waitFor()
    await holdfast.allocations.delete(had.id!)
    const turn = page.getByText(SAID.turn)
    await turn.waitFor()
    await page.getByText(SAID.placeSaid('carols-other', 1, 1, null).slice(0, -1)).waitFor({ state: 'attached' })
    await page.reload()
    await turn.waitFor()
    await page.getByRole('button', { name: SAID.seen }).click()
    await turn.waitFor({ state: 'detached' })
    await cardOf(page, 'carols-other').getByRole('button', { name: SAID.cancel }).click()
    await page.getByRole('dialog').getByRole('button', { name: SAID.keepIt }).click()
    await cardOf(page, 'carols-other').getByRole('button', { name: SAID.cancel }).click()
    await page.getByRole('dialog').getByRole('button', { name: SAID.cancelVerb }).click()
    await page.getByRole('heading', { name: SAID.youDont }).waitFor()
    await assert.rejects(holdfast.allocations.show('carols-other'), { status: 404 })
  })
})
