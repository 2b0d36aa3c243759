// Bookings are composed by hand, by keys and in words. What doesn't fit is told before anything is written.
import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { Holdfast, Lease } from '../../src/client/index.ts'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean } from './support.ts'

const DAY_MS = 86_400_000
const dateAt = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
/** Noon UTC, so many days from today. */
const noon = (days: number) => Math.floor(Date.now() / DAY_MS) * DAY_MS + days * DAY_MS + DAY_MS / 2

const laneOf = (page: Page, name: string) =>
  page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: new RegExp(`^${name}`) }) })
    .getByRole('gridcell')
const form = (page: Page) => page.getByRole('form', { name: /^(Book|Move a booking)$/ })
const book = (page: Page) => form(page).getByRole('button', { name: words.booking.book, exact: true })
const says = (page: Page, text: string) => form(page).locator('output').getByText(text, { exact: true })
const why = (page: Page) => page.getByRole('dialog', { name: words.booking.doesNot })
const barOf = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name} `) })
const ghosts = (page: Page) => page.locator('.bk-gh')

atDashboard(
  'bookings',
  dashboard => {
    const kind = 'gpu'
    const names = ['gpu-1', 'gpu-2', 'gpu-3']
    let uuids: string[] = []
    let server: Holdfast

    /** Three free machines of one class that leases may book. */
    before(async () => {
      server = await dashboard.library('carol')
      const made = names.map(async name => {
        const { uuid } = await server.nodes.create({ name, driver: 'fake-hardware', resource_class: kind })
        await server.nodes.provision(uuid, 'manage')
        await server.nodes.wait(uuid, { until: 'manageable' })
        await server.nodes.provision(uuid, 'provide')
        await server.nodes.wait(uuid, { until: 'available' })
        await server.leasableNodes.enrol(uuid)
        return uuid
      })
      uuids = await Promise.all(made)
    })

    afterEach(async () => {
      for (const { id } of await server.leases.list()) await server.leases.delete(id)
    })

    const lease = (name: string, place: number, start: number, end: number) =>
      server.leases.create({
        name,
        start_date: dateAt(start),
        end_date: dateAt(end),
        reservations: [
          {
            resource_type: 'physical:node',
            resource_class: kind,
            min: 1,
            max: 1,
            candidate_nodes: [uuids[place]!],
          },
        ],
      })
    const leases = async () => (await server.leases.list()).map(({ name }) => name).toSorted()
    const leaseNamed = async (name: string): Promise<Lease> =>
      (await server.leases.list()).find(one => one.name === name)!
    const nodesOf = ({ reservations }: Lease) =>
      (reservations as unknown as { nodes: { name: string }[] }[]).flatMap(({ nodes }) => nodes.map(({ name }) => name))

    const calendar = async (page: Promise<Page>) => {
      const opened = await page
      await laneOf(opened, names[0]!).waitFor()
      return opened
    }
    const open = (more = '') => calendar(dashboard.open(`/ui/calendar?class=${kind}${more}`))

    /** Where a time is on a lane: two weeks from the start of today are across. */
    const pointOn = async (page: Page, lane: Locator, at: number) => {
      const { x, y, width, height } = (await lane.boundingBox())!
      const from = await page.evaluate(() => new Date().setHours(0, 0, 0, 0))
      return { x: x + ((at - from) / (14 * DAY_MS)) * width, y: y + height / 2 }
    }
    const drag = async (page: Page, from: { x: number; y: number }, to: { x: number; y: number }) => {
      await page.mouse.move(from.x, from.y)
      await page.mouse.down()
      await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2)
      await page.mouse.move(to.x, to.y)
      await page.mouse.up()
    }

    test('by hand: what fits is booked, what does not is refused in place, and offer 1 fits', async () => {
      await lease('theirs', 1, noon(4), noon(5))
      const written = await leases()
      const page = await open()
      const [free, taken] = [laneOf(page, names[0]!), laneOf(page, names[1]!)]
      await barOf(page, 'theirs').waitFor()

      await drag(page, await pointOn(page, free, noon(2)), await pointOn(page, free, noon(3)))
      await says(page, words.booking.fits).waitFor()
      assert.deepEqual(await leases(), written)
      await form(page).getByLabel(words.booking.name).fill('by-hand')
      await book(page).click()
      await page.getByText(/^Booked by-hand: /).waitFor()
      await barOf(page, 'by-hand').waitFor()
      assert.deepEqual(nodesOf(await leaseNamed('by-hand')), [names[0]])

      await drag(page, await pointOn(page, taken, noon(3.5)), await pointOn(page, taken, noon(4.5)))
      await why(page).getByRole('alert').waitFor()
      assert.match((await why(page).textContent())!, new RegExp(`1 is booked: ${names[1]} by theirs \\(carol\\)`))
      assert.equal(await book(page).isDisabled(), true)
      await axeClean(page)
      assert.deepEqual(await leases(), [...written, 'by-hand'].toSorted(), 'nothing is written yet')
      await page.keyboard.press('1')
      await why(page).first().waitFor({ state: 'detached' })
      await says(page, words.booking.fits).waitFor()
      await form(page).getByLabel(words.booking.name).fill('offered')
      await book(page).click()
      await barOf(page, 'offered').waitFor()
      const offered = await leaseNamed('offered')
      assert.equal(offered.start_date, (await leaseNamed('theirs')).end_date)
    })

    test('by keys alone, and Escape leaves nothing behind', async () => {
      const page = await open()
      const lane = laneOf(page, names[2]!)
      await lane.focus()
      for (let step = 0; step < 30; step++) await page.keyboard.press('ArrowRight')
      await page.keyboard.press('b')
      await ghosts(page).waitFor()
      await page.keyboard.press('Escape')
      await ghosts(page).first().waitFor({ state: 'detached' })
      await page.keyboard.press('b')
      for (let step = 0; step < 5; step++) await page.keyboard.press('ArrowRight')
      await says(page, words.booking.fits).waitFor()
      await page.keyboard.press('Enter')
      await page.keyboard.press('Enter')
      await page.getByText(/^Booked 1-/).waitFor()
      const made = await leaseNamed(`1-${kind}`)
      assert.equal(Date.parse(made.end_date) - Date.parse(made.start_date), 6 * 3_600_000)
      assert.deepEqual(nodesOf(made), [names[2]])

      // And moved, kept, and taken back.
      const bar = barOf(page, `1-${kind}`)
      await bar.focus()
      await page.keyboard.press('m')
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Shift+ArrowRight')
      await page.keyboard.press('Enter')
      await page.getByText(new RegExp(`^Moved 1-${kind} to `)).waitFor()
      const moved = await leaseNamed(`1-${kind}`)
      assert.equal(Date.parse(moved.start_date) - Date.parse(made.start_date), 3_600_000)
      assert.equal(Date.parse(moved.end_date) - Date.parse(made.end_date), 2 * 3_600_000)
      await page.getByRole('button', { name: words.doing.undo }).last().click()
      await page.getByText(/^Undone: /).waitFor()
      const { start_date, end_date } = await leaseNamed(`1-${kind}`)
      assert.deepEqual([start_date, end_date], [made.start_date, made.end_date])
    })

    test('in words: what is typed is understood or told, and the first window is found', async () => {
      const all = await server.leases.create({
        name: 'all',
        start_date: 'now',
        end_date: dateAt(noon(3)),
        reservations: [{ resource_type: 'physical:node', resource_class: kind, min: 2, max: 2 }],
      })
      const page = await open()
      const field = (label: string) => form(page).getByLabel(label, { exact: true })
      await field(words.booking.class).selectOption(kind)
      await field(words.booking.count).fill('2')
      await field(words.booking.length).fill('2 d')
      await field(words.booking.start).fill('32/3')
      await field(words.booking.length).focus()
      await form(page)
        .getByText(/^Not clear when that is/)
        .waitFor()
      await page.getByRole('button', { name: words.booking.firstWindow }).click()
      await says(page, words.booking.fits).waitFor()
      await ghosts(page).nth(1).waitFor()
      await field(words.booking.name).fill('in-words')
      await page.keyboard.press('Enter')
      await page.getByText(/^Booked in-words: /).waitFor()
      const made = await leaseNamed('in-words')
      assert.equal(made.start_date, all.end_date)
      assert.equal(Date.parse(made.end_date) - Date.parse(made.start_date), 2 * DAY_MS)
    })

    test('a booking is moved by hand; what lands under a draft turns it red', async () => {
      const { id, start_date } = await lease('mine', 0, noon(3), noon(4))
      const page = await open()
      const lane = laneOf(page, names[0]!)
      await barOf(page, 'mine').waitFor()
      await drag(page, await pointOn(page, lane, noon(3.5)), await pointOn(page, lane, noon(5.5)))
      await page.getByText(/^Moved mine to /).waitFor()
      assert.equal(Date.parse((await server.leases.show(id)).start_date) - Date.parse(start_date), 2 * DAY_MS)
      await page.getByRole('button', { name: words.doing.undo }).click()
      await page.getByText(/^Undone: /).waitFor()
      assert.equal((await server.leases.show(id)).start_date, start_date)

      await drag(page, await pointOn(page, lane, noon(6)), await pointOn(page, lane, noon(7)))
      await says(page, words.booking.fits).waitFor()
      const theirs = await lease('theirs', 0, noon(6.5), noon(8))
      await why(page).getByRole('alert').waitFor()
      await page.locator('.bk-gh.no').waitFor()
      await server.leases.delete(theirs.id)
      await why(page).first().waitFor({ state: 'detached' })
      await says(page, words.booking.fits).waitFor()
    })

    test('who gets a machine is told what comes of it, and waits where none is free', async () => {
      const others = await Promise.all(
        uuids.map(uuid =>
          server.allocations.create({ resource_class: kind, candidate_nodes: [uuid], expires_at: '3h' }),
        ),
      )
      for (const { uuid } of others) await server.allocations.wait(uuid)
      const page = await dashboard.open('/ui/mine')
      await page.getByRole('button', { name: words.mine.get }).first().click()
      const sheet = page.getByRole('dialog', { name: words.get.title })
      await sheet.getByText(/^1st of 1, likely start /).waitFor()
      await sheet.getByText('3 are taken').waitFor()
      await axeClean(page)
      await sheet.getByLabel(words.get.name, { exact: true }).fill('from-the-sheet')
      await server.allocations.delete(others[0]!.uuid)
      await sheet.getByText(words.get.freeNow(1)).waitFor()
      await server.allocations.create({ resource_class: kind, expires_at: '3h' })
      await sheet.getByRole('button', { name: words.get.wait }).click()
      await page.getByText(`Asked for 1 ${kind}`).waitFor()
      const made = await server.allocations.show('from-the-sheet')
      assert.deepEqual([made.state, made.node_uuid], ['allocating', null])
    })

    test('who asks again because no answer came gets one machine, not two', async () => {
      const page = await dashboard.open('/ui/mine', { expecting: /ERR_FAILED|409/ })
      await page.getByRole('button', { name: words.mine.get }).first().click()
      const sheet = page.getByRole('dialog', { name: words.get.title })
      const ask = sheet.getByRole('button', { name: words.get.wait })
      await ask.waitFor()
      const before = (await server.allocations.list()).length
      await page.route('**/baremetal/v1/allocations**', async route => {
        if (route.request().method() === 'POST') await route.fetch()
        await route.abort()
      })
      await ask.click()
      await sheet.getByRole('alert').waitFor()
      assert.equal((await server.allocations.list()).length, before + 1)
      await page.unroute('**/baremetal/v1/allocations**')
      await ask.click()
      await page.getByText(`Asked for 1 ${kind}`).waitFor()
      assert.equal((await server.allocations.list()).length, before + 1)
    })
  },
  { nodes: 0 },
)
