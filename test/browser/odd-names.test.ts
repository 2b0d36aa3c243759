// What people call things must not break the page, whatever it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { words } from '../../web/src/words.ts'
import { atDashboard } from './support.ts'

const ODD = `"><img src=x onerror=alert(1)><script>alert(2)</script> \u202Eevil 🦊 javascript:alert(1)`
const LONG = 'n'.repeat(255)
const SPILT = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

const spilt = (page: Page) => page.evaluate<number>(SPILT)

atDashboard(
  'odd names in the dashboard',
  dashboard => {
    test('every machine is reached and fits the page, and what people wrote is only text', async () => {
      const { nodes } = await dashboard.library('carol')
      const texts = {
        description: ODD,
        extra: { rack: ODD, console_url: 'javascript:alert(1)' },
        properties: { [ODD]: ODD },
      }
      const driver_info = { ipmi_address: ODD }
      const made = ['..', 'status', LONG].map(name =>
        nodes.create({ name, driver: 'fake-hardware', resource_class: 'odd', driver_info, ...texts }),
      )
      const uuids = (await Promise.all(made)).map(({ uuid }) => uuid)
      const page = await dashboard.open('/ui/now')
      for (const [at, name] of ['..', 'status', LONG].entries()) {
        await page.locator(`#main a[data-id="${uuids[at]}"]`).press('Enter')
        await page.getByRole('heading', { level: 1 }).filter({ hasText: name }).waitFor()
        await page.getByText(ODD).first().waitFor()
        assert.deepEqual([await spilt(page), await page.locator('img, #main script').count()], [0, 0], name)
        assert.equal(await page.locator('a[href^="javascript"]').count(), 0)
        await page.goBack()
      }
      await page.goto(`/ui/now?q=${'x'.repeat(3_000)}&class=[(*%2B\\`)
      await page.getByText(words.now.noMatch(3)).waitFor()
      assert.equal(await spilt(page), 0)
    })
  },
  { nodes: 0 },
)
