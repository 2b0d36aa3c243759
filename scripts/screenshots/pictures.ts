// Which pictures of the dashboard there are.
import type { Page } from 'playwright-core'
import { words } from '../../web/src/words.ts'

export interface Picture {
  name: string
  path: string
  /** null for nobody. */
  as?: 'carol' | 'alice' | null
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  isPhone?: boolean
  /** What is done before the picture is taken. */
  act?: (page: Page) => Promise<void>
}

const CAPACITY = '/ui/capacity?resources=VCPU:8,VGPU:4&required=CUSTOM_NVLINK'

export const PICTURES: readonly Picture[] = [
  { name: 'now', path: '/ui/now' },
  { name: 'now-dark', path: '/ui/now', theme: 'dark' },
  { name: 'now-table', path: '/ui/now?view=table' },
  { name: 'now-member', path: '/ui/now', as: 'alice' },
  { name: 'now-phone', path: '/ui/now', isPhone: true },
  { name: 'now-wall', path: '/ui/now?wall', theme: 'dark', width: 1920, height: 1080 },
  { name: 'calendar', path: '/ui/calendar?class=gpu-*' },
  { name: 'calendar-dark', path: '/ui/calendar?class=gpu-*', theme: 'dark' },
  { name: 'calendar-refusal', path: '/ui/calendar?class=gpu-*', act: bookTooMany },
  { name: 'calendar-phone', path: '/ui/calendar', isPhone: true },
  { name: 'queue', path: '/ui/queue' },
  { name: 'machine', path: '/ui/machine/rack-a01-06' },
  { name: 'machine-phone', path: '/ui/machine/rack-a01-06', isPhone: true },
  { name: 'mine', path: '/ui/mine', as: 'alice' },
  { name: 'mine-phone', path: '/ui/mine', as: 'alice', isPhone: true },
  { name: 'capacity', path: CAPACITY },
  { name: 'operator', path: '/ui/operator' },
  { name: 'operator-dark', path: '/ui/operator', theme: 'dark' },
  { name: 'reference', path: '/ui/reference/baremetal' },
  { name: 'login', path: '/ui/now', as: null, width: 900, height: 560 },
]

/** From Friday morning on: two of the twelve are booked from the evening on. */
async function bookTooMany(page: Page): Promise<void> {
  const form = page.getByRole('form', { name: words.booking.form })
  const fields = { [words.booking.count]: '11', [words.booking.length]: '2d', [words.booking.start]: 'fri 9:00' }
  for (const [label, text] of Object.entries(fields)) {
    await form.getByLabel(label, { exact: true }).fill(text)
    await page.keyboard.press('Tab')
  }
  await page.getByRole('dialog', { name: words.booking.doesNot }).getByRole('alert').waitFor()
}
