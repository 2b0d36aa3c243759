// The page of operators: what failed with the verb that helps, maintenance, the audit, quotas, fsck; and the reference.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { words } from '../../web/src/words.ts'
import { atDashboard, axeClean } from './support.ts'

atDashboard('the page of operators', dashboard => {
  test('failed machines are put together by error, and the verb that helps goes to all of them', async () => {
    const page = await dashboard.open('/ui/operator')
    const failed = page.getByRole('region', { name: words.operator.failed })
    const group = failed.locator('section').filter({ hasText: words.operator.helps('clean') })
    await group.waitFor()
    const names = await group.getByRole('link').allTextContents()
    assert.ok(names.length > 0)
    await group.locator('header').getByRole('button').click()
    await group.first().waitFor({ state: 'detached' })
    const { nodes } = await dashboard.library('carol')
    for (const name of names) assert.match((await nodes.show(name)).provision_state, /manag|verif/)
    await axeClean(page)
  })

  test('maintenance that ends for all of a reason can be taken back', async () => {
    const page = await dashboard.open('/ui/operator')
    const reasons = page.getByRole('region', { name: words.operator.maintenance }).getByRole('listitem')
    await reasons.first().waitFor()
    const before = await reasons.count()
    const reason = (await reasons.first().locator('.grow').textContent())!
    await reasons.first().getByRole('button').click()
    await reasons.filter({ hasText: reason }).first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: words.doing.undo, exact: true }).click()
    await reasons.filter({ hasText: reason }).waitFor()
    assert.equal(await reasons.count(), before)
  })

  test('the audit is searched by a name, and the search is in the address', async () => {
    const page = await dashboard.open('/ui/operator')
    const entries = page.getByRole('region', { name: words.operator.audit }).getByRole('listitem')
    await entries.first().waitFor()
    await page.getByRole('searchbox', { name: words.operator.auditSearch }).fill('bob')
    await page.waitForURL(/audit=bob/)
    await entries.filter({ hasNotText: 'bob' }).first().waitFor({ state: 'detached' })
    await page.reload()
    await entries.first().waitFor()
    assert.equal(await page.getByRole('searchbox', { name: words.operator.auditSearch }).inputValue(), 'bob')
    await page.getByRole('searchbox', { name: words.operator.auditSearch }).fill('nobody-of-this-name')
    await page.getByText(words.operator.noEntries).waitFor()
  })

  test('a quota is set, shown, and taken back', async () => {
    const page = await dashboard.open('/ui/operator')
    await page.getByRole('button', { name: words.operator.editQuota('vision') }).click()
    const sheet = page.getByRole('dialog', { name: words.operator.quotaOf('vision') })
    await sheet.locator('input[name=nodes]').fill('seven')
    await sheet.getByRole('button', { name: words.operator.setQuota }).click()
    await sheet.getByText(words.operator.wrongLimit('nodes', 'seven')).waitFor()
    await sheet.locator('input[name=nodes]').fill('700')
    await sheet.getByRole('button', { name: words.operator.setQuota }).click()
    await sheet.waitFor({ state: 'detached' })
    const row = page.getByRole('row').filter({ hasText: 'vision' })
    await row.getByText(words.operator.ofLimit(700)).waitFor()
    await page.getByRole('button', { name: words.doing.undo, exact: true }).click()
    await row.getByText(words.operator.ofLimit(700)).first().waitFor({ state: 'detached' })
  })

  test('fsck runs from the page and says how many invariants hold', async () => {
    const page = await dashboard.open('/ui/operator')
    await page.getByRole('button', { name: words.operator.runFsck }).click()
    await page.getByText(/^(\d+) of \1 hold$/).waitFor()
  })

  test('a member is not offered the page, and sees nothing at its address', async () => {
    const page = await dashboard.open('/ui/operator', { as: 'alice' })
    await page.getByText(words.operator.notYours).waitFor()
    assert.equal(await page.getByRole('link', { name: words.shell.operator }).count(), 0)
  })

  test('an operation of the reference is tried as the one who is logged in', async () => {
    const page = await dashboard.open('/ui/reference/baremetal?q=show+a+node', { as: 'carol', expecting: /404/ })
    await page.getByText('/baremetal/v1/nodes/{ident}', { exact: true }).click()
    const form = page.locator('.try')
    await form.getByLabel('ident').fill('rack-a01-01')
    await form.getByRole('button', { name: words.reference.send }).click()
    await form.getByText('"resource_class"').waitFor()
    await form.getByLabel('ident').fill('no-such-machine')
    await form.getByRole('button', { name: words.reference.send }).click()
    await form.getByText('404', { exact: true }).waitFor()
    await axeClean(page)
  })
})
