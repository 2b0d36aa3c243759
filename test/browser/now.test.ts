// The page Now: tiles and table, filters in the address, keys, many machines at once, and what stands still under the hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Machine } from '../../src/client/status.ts'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean, type Dashboard, type Name } from './support.ts'

const tile = (page: Page, name: string) => page.getByRole('link', { name: new RegExp(`^${name}, `) })
const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`${name} `) })
const chip = (page: Page, state: keyof typeof words.states) =>
  page.getByRole('group', { name: words.now.states }).getByRole('button', { name: words.states[state].word })
const popover = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })
const focused = (page: Page) => page.evaluate<string>('document.activeElement?.textContent ?? ""')

/** What makes a page wider than its window. */
const STICKS_OUT = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('main *, header *, nav *')]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.tagName + '.' + one.getAttribute('class'))`

async function machinesOf(dashboard: Dashboard, name: Name = 'carol'): Promise<Machine[]> {
  const { machines } = await (await dashboard.library(name)).status()
  return machines
}

/** Free machines of one class, by name. */
async function freeOf(dashboard: Dashboard, count: number): Promise<Machine[]> {
  const free = (await machinesOf(dashboard)).filter(({ state, bookable }) => state === 'free' && !bookable)
  const some = Object.values(Object.groupBy(free, machine => machine.class ?? ''))
  const found = some.find(one => (one?.length ?? 0) >= count)
  assert.ok(found, 'the demo has some free machines')
  return found.slice(0, count)
}

const isFreeIn = (machines: readonly Machine[]) => machines.filter(({ state }) => state === 'free').length

atDashboard(
  'the page Now',
  dashboard => {
    test('says how many are free; states and classes are filters that survive a reload', async () => {
      const machines = await machinesOf(dashboard)
      const page = await dashboard.open('/ui/now')
      const lead = words.now.lead(isFreeIn(machines), machines.length).join('')
      await page.getByRole('heading', { level: 1, name: lead }).waitFor()
      await axeClean(page)
      await chip(page, 'taken').click()
      await page.waitForURL(/\?state=taken$/)
      const taken = machines.find(({ state }) => state === 'taken')
      const free = machines.find(({ state }) => state === 'free')
      await tile(page, taken!.name!).waitFor()
      await tile(page, free!.name!).waitFor({ state: 'detached' })
      await page.getByRole('group', { name: words.now.classes }).getByRole('button', { name: taken!.class! }).click()
      await page.waitForURL(new RegExp(`class=${taken!.class}`))
      await page.reload()
      await tile(page, taken!.name!).waitFor()
      assert.equal(await chip(page, 'taken').getAttribute('aria-pressed'), 'true')
      await page.getByRole('button', { name: words.now.drop('state', 'taken') }).click()
      await page.waitForURL(url => !url.search.includes('state'))
      // Filters replace: one step back leaves the page.
      assert.equal(await page.evaluate('history.length'), 2)
    })

    test('no match says which filter to leave out, and how many there would be', async () => {
      const machines = await machinesOf(dashboard)
      const name = machines.find(({ class: found }) => found !== null)!.class!
      const count = machines.filter(machine => machine.class === name).length
      const page = await dashboard.open(`/ui/now?class=${name}&q=no-such-thing`)
      await page.getByRole('heading', { name: words.now.noMatch(machines.length) }).waitFor()
      await axeClean(page)
      await page.getByRole('button', { name: `${words.now.leaveOut('text')} ${words.now.wouldMatch(count)}` }).click()
      await page.waitForURL(new RegExp(`\\?class=${name}$`))
      await page.goto('/ui/now?until=<soon')
      await page.getByText(words.now.notAFilter('<soon')).waitFor()
    })

    test('keys walk over tiles; Space shows who has it, Enter opens it', async () => {
      const { name } = (await machinesOf(dashboard)).find(({ kind, who }) => kind === 'allocation' && who === 'bob')!
      const page = await dashboard.open('/ui/now')
      await tile(page, name!).focus()
      await page.keyboard.press('ArrowRight')
      await page.locator('.tile:focus', { hasNotText: `${name}, ` }).waitFor()
      await page.keyboard.press('ArrowLeft')
      await page.locator('.tile:focus', { hasText: `${name}, ` }).waitFor()
      assert.equal(await page.locator('.fleet .tile[tabindex="0"]').count(), 1)
      await page.keyboard.press('Space')
      await popover(page, name!).getByText('bob', { exact: true }).waitFor()
      await axeClean(page)
      await page.keyboard.press('Escape')
      await popover(page, name!).waitFor({ state: 'detached' })
      assert.match(await focused(page), new RegExp(`^${name}, `))
      await tile(page, name!).hover()
      await popover(page, name!).getByRole('button', { name: words.verbs.text.extend }).waitFor()
      await page.mouse.move(0, 0)
      await popover(page, name!).waitFor({ state: 'detached' })
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/ui/machine/${name}`)
    })

    test('many at once: a group with an exception, maintenance of all, and undone', async () => {
      const library = await dashboard.library('carol')
      const [first, second, third] = (await freeOf(dashboard, 3)) as [Machine, Machine, Machine]
      const page = await dashboard.open(`/ui/now?view=table&class=${first.class}&state=free&group=class`)
      await row(page, first.name!).waitFor()
      await axeClean(page)
      await page.getByRole('checkbox', { name: words.now.select(first.class!) }).click()
      const free = (await machinesOf(dashboard)).filter(one => one.class === first.class && one.state === 'free')
      await page.getByText(words.now.selected(free.length)).waitFor()
      await page.keyboard.press('Escape')
      await row(page, first.name!).focus()
      await page.keyboard.press('x')
      await page.getByRole('checkbox', { name: words.now.select(third.name!) }).click({ modifiers: ['Shift'] })
      await page.getByRole('checkbox', { name: words.now.select(second.name!) }).click()
      await page.getByText(words.now.selected(2)).waitFor()
      await page.getByRole('button', { name: words.verbs.text.maintenance }).click()
      await page.getByLabel(words.verbs.reason).fill('new fans')
      await page.getByRole('button', { name: words.verbs.start }).click()
      await page.getByText(words.verbs.maintenanceStarted(`${first.name} and ${third.name}`)).waitFor()
      const inMaintenance = async () => {
        const nodes = await Promise.all([first, second, third].map(({ uuid }) => library.nodes.show(uuid)))
        return nodes.map(({ maintenance }) => maintenance)
      }
      assert.deepEqual(await inMaintenance(), [true, false, true])
      await page.getByRole('button', { name: words.doing.undo }).click()
      await page.getByText(words.doing.undone('')).waitFor()
      assert.deepEqual(await inMaintenance(), [false, false, false])
    })

    test('rows stand still under the pointer, and changes wait until they are asked for', async () => {
      const library = await dashboard.library('carol')
      const [first, second] = (await freeOf(dashboard, 2)) as [Machine, Machine]
      const page = await dashboard.open(`/ui/now?view=table&class=${first.class}&state=free`)
      await row(page, second.name!).hover()
      await library.nodes.startMaintenance(first.uuid)
      await row(page, first.name!).getByText(words.states.maintenance.word).waitFor()
      await page.getByText(words.now.changesWait(1)).waitFor()
      await page.getByRole('button', { name: words.now.showChanges, exact: true }).click()
      await row(page, first.name!).waitFor({ state: 'detached' })
      await row(page, second.name!).hover()
      await library.nodes.endMaintenance(first.uuid)
      await page.getByText(words.now.changesWait(1)).waitFor()
      await page.mouse.move(0, 0)
      await row(page, first.name!).waitFor()
    })

    test('the table is sorted, folded and walked by keys', async () => {
      const page = await dashboard.open('/ui/now?view=table')
      const group = page.getByRole('row', { expanded: true }).first()
      await group.waitFor()
      const before = await page.getByRole('row').count()
      await group.focus()
      await page.keyboard.press('ArrowLeft')
      await page.getByRole('row', { expanded: false }).waitFor()
      await page.keyboard.press('ArrowRight')
      await page.getByRole('row', { expanded: false }).first().waitFor({ state: 'detached' })
      assert.equal(await page.getByRole('row').count(), before)
      await page.keyboard.press('j')
      await page.locator('tr[aria-level="2"]:focus').waitFor()
      await page.getByRole('button', { name: words.now.columns.until, exact: true }).click()
      await page.waitForURL(/sort=until/)
      await page.getByRole('button', { name: words.now.columns.until, exact: true }).click()
      await page.waitForURL(/sort=-until/)
      assert.equal(
        await page.getByRole('columnheader', { name: words.now.columns.until }).getAttribute('aria-sort'),
        'descending',
      )
    })

    test('members see what is theirs, and nothing that they may not do', async () => {
      const machines = await machinesOf(dashboard, 'alice')
      const page = await dashboard.open('/ui/now', { as: 'alice' })
      await page.getByRole('heading', { name: words.now.lead(isFreeIn(machines), machines.length).join('') }).waitFor()
      assert.equal(await page.getByRole('button', { name: words.now.add }).count(), 0)
      assert.equal(await page.getByText('bob', { exact: true }).count(), 0)
    })

    test('find: some letters, an arrow, Enter', async () => {
      const [first] = await machinesOf(dashboard)
      const page = await dashboard.open('/ui/now')
      await tile(page, first!.name!).waitFor()
      await page.keyboard.press('/')
      const box = page.getByRole('combobox', { name: words.shell.find })
      await box.fill(first!.name!)
      await page.getByRole('option', { name: first!.name!, selected: true }).waitFor()
      await axeClean(page)
      await box.fill('bob')
      await page.getByRole('option', { name: new RegExp(`^bob `), selected: true }).waitFor()
      await box.press('Enter')
      await page.waitForURL(/now\?view=table&who=bob$/)
      await row(page, 'bob').first().waitFor()
    })

    test('a wall has no controls, and nobody is “you” there', async () => {
      const page = await dashboard.open('/ui/now?wall', { theme: 'dark' })
      const mine = (await machinesOf(dashboard)).find(({ mine, state }) => mine && state === 'taken')!
      await tile(page, mine.name!).waitFor()
      assert.equal(await page.getByRole('button', { name: words.now.filter, exact: true }).isVisible(), false)
      assert.match(await tile(page, mine.name!).innerText(), /carol/)
      await axeClean(page)
    })

    test('a phone shows the same', async () => {
      const [first] = await machinesOf(dashboard)
      for (const view of ['tiles', 'table']) {
        const page = await dashboard.open(`/ui/now?view=${view}`, { width: 390, height: 844, isTouch: true })
        await page.getByRole('link', { name: new RegExp(`^${first!.name}`) }).waitFor()
        await axeClean(page)
        assert.deepEqual(await page.evaluate<string[]>(STICKS_OUT), [], `${view}: nothing sticks out`)
      }
    })
  },
  { nodes: 60 },
)

atDashboard(
  'the page Now of an empty fleet',
  dashboard => {
    test('says what to do, and adds a machine: what is wrong stands beside its field', async () => {
      const page = await dashboard.open('/ui/now', { expecting: /409|404/ })
      await page.getByRole('heading', { name: words.now.emptyTitle }).waitFor()
      await page.getByText(words.now.demo, { exact: true }).waitFor()
      await axeClean(page)
      await page.getByRole('button', { name: words.now.add }).click()
      const add = page.getByRole('button', { name: words.now.new.make, exact: true })
      await add.click()
      await page.getByText(words.now.new.nameMissing).waitFor()
      await page.getByLabel(words.now.new.name).fill('lab-01')
      await page.getByLabel(words.now.new.rack).fill('rack-z')
      await page.getByLabel(words.now.new.macs).fill('52:54:00')
      await page.getByText(words.now.new.macWrong('52:54:00')).waitFor()
      await page.getByLabel(words.now.new.macs).fill('52-54-00-AA-BB-01')
      await add.click()
      // Its page says what comes next.
      await page.getByRole('heading', { name: 'lab-01', level: 1 }).waitFor()
      await page.getByRole('button', { name: 'manage', exact: true }).first().waitFor()
      const library = await dashboard.library('carol')
      const { uuid, extra } = await library.nodes.show('lab-01')
      assert.deepEqual(extra, { rack: 'rack-z' })
      const ports = await library.ports.list()
      assert.deepEqual(
        ports.map(({ address, node_uuid }) => [address, node_uuid]),
        [['52:54:00:aa:bb:01', uuid]],
      )
      await page.getByRole('button', { name: words.doing.undo }).click()
      await page.getByText(words.doing.undone(words.now.new.made('lab-01'))).waitFor()
      await page.getByRole('link', { name: words.shell.now, exact: true }).first().click()
      await page.getByRole('heading', { name: words.now.emptyTitle }).waitFor()
    })
  },
  { nodes: 0 },
)
