// The way into the dashboard and out of it, and where the token is meanwhile.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { words } from '../../web/src/words.ts'
import { FakeKeystone } from '../identity/fake-keystone.ts'
import { atDashboard, axeClean, type Dashboard, type Name } from './support.ts'

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true })
const enter = (page: Page) => page.getByRole('button', { name: words.login.enter, exact: true }).click()
const me = (page: Page, who: string) => page.getByRole('button', { name: who, exact: true })

async function logIn(page: Page, dashboard: Dashboard, name: Name, password = dashboard.passwordOf(name)) {
  await field(page, words.login.user).fill(name)
  await field(page, words.login.password).fill(password)
  await enter(page)
}

/** The token, where it has to be: with this tab alone. */
const tokenOf = (page: Page) =>
  page.evaluate<string>(`/"x-auth-token":"([^"]+)"/.exec(sessionStorage['holdfast-login'])?.[1] ?? ''`)

/** What other tabs see, and what is sent along with requests. */
async function sharedOf(page: Page): Promise<string> {
  const cookies = JSON.stringify(await page.context().cookies())
  return (
    cookies + (await page.evaluate<string>('JSON.stringify([{ ...localStorage }, document.cookie, history.state])'))
  )
}

atDashboard('the dashboard’s login', dashboard => {
  test('who isn’t known is asked for a name, and is then where they wanted to be', async () => {
    const asked: string[] = []
    const page = await dashboard.open('/ui/queue?who=bob', { as: null })
    page.on('request', request => asked.push(request.url()))
    await axeClean(page)
    await logIn(page, dashboard, 'alice')
    await me(page, words.shell.me('alice', 'vision')).waitFor()
    assert.match(page.url(), /\/ui\/queue\?who=bob$/)
    const token = await tokenOf(page)
    for (const kept of [await sharedOf(page), ...asked]) assert.ok(!kept.includes(token), kept)
    await page.reload()
    await me(page, words.shell.me('alice', 'vision')).waitFor()
  })

  test('a wrong password is told beside the form, and the form stays as it was', async () => {
    const page = await dashboard.open('/ui/now', { as: null, expecting: /401/ })
    await logIn(page, dashboard, 'bob', 'wrong')
    const refusal = page.getByRole('alert')
    await refusal.waitFor()
    assert.match((await refusal.textContent())!, /bob/)
    await axeClean(page)
    assert.equal(await field(page, words.login.user).inputValue(), 'bob')
    await field(page, words.login.project).fill('vision')
    await field(page, words.login.password).fill(dashboard.passwordOf('bob'))
    await enter(page)
    await page.getByText(/bob has no role in vision; bob's projects: nlp/).waitFor()
    await field(page, words.login.project).fill('nlp')
    await enter(page)
    await me(page, words.shell.me('bob', 'nlp')).waitFor()
  })

  test('whose login has ended goes on with the draft they had', async () => {
    const page = await dashboard.open('/ui/calendar', { as: null, expecting: /401/ })
    await logIn(page, dashboard, 'alice')
    const form = page.getByRole('form', { name: words.booking.form })
    const name = form.getByLabel(words.booking.name, { exact: true })
    await form.getByLabel(words.booking.class, { exact: true }).fill('cpu-large')
    await name.fill('kept-draft')
    const token = await tokenOf(page)
    const headers = { 'x-auth-token': token, 'x-subject-token': token }
    await fetch(`${dashboard.origin}/identity/v3/auth/tokens`, { method: 'DELETE', headers })
    // The page may hear of it before the click; then there is nothing to click.
    const book = form.getByRole('button', { name: words.booking.book, exact: true })
    await book.click({ timeout: 5_000 }).catch(() => null)
    await page.getByText(words.login.ended).waitFor()
    await logIn(page, dashboard, 'alice')
    await form.getByText(words.booking.fits, { exact: true }).waitFor()
    assert.equal(await name.inputValue(), 'kept-draft')
    await form.getByRole('button', { name: words.booking.book, exact: true }).click()
    await page.getByRole('button', { name: words.doing.undo, exact: true }).click()
    await page.locator('.toast', { hasText: words.doing.undone('') }).waitFor()
  })

  test('who has several projects and says none is asked for one', async () => {
    const { project } = await dashboard.login('alice')
    const { headers: admins } = await dashboard.login('carol')
    const { user } = await dashboard.login('bob')
    const roles = await fetch(`${dashboard.origin}/identity/v3/roles?name=member`, { headers: admins })
    const listed = (await roles.json()) as { roles: { id: string; name: string }[] }
    const role = listed.roles.find(({ name }) => name === 'member')
    const grant = `${dashboard.origin}/identity/v3/projects/${project}/users/${user}/roles/${role!.id}`
    assert.equal((await fetch(grant, { method: 'PUT', headers: admins })).status, 204)
    const patched = await fetch(`${dashboard.origin}/identity/v3/users/${user}`, {
      method: 'PATCH',
      headers: { ...admins, 'content-type': 'application/json' },
      body: JSON.stringify({ user: { default_project_id: null } }),
    })
    assert.equal(patched.status, 200)
    const page = await dashboard.open('/ui/mine', { as: null })
    await logIn(page, dashboard, 'bob')
    await page.getByText(words.login.whichProject(['nlp', 'vision'])).waitFor()
    await field(page, words.login.project).fill('vision')
    await enter(page)
    await me(page, words.shell.me('bob', 'vision')).waitFor()
    await fetch(grant, { method: 'DELETE', headers: admins })
  })

  test('logging out ends the token, and the tab forgets it', async () => {
    const page = await dashboard.open('/ui/now', { as: null })
    await logIn(page, dashboard, 'bob')
    await me(page, words.shell.me('bob', 'nlp')).click()
    const token = await tokenOf(page)
    const ended = page.waitForResponse(answer => answer.request().method() === 'DELETE')
    await page.getByRole('menuitem', { name: words.shell.logOut }).click()
    await field(page, words.login.user).waitFor()
    assert.equal((await ended).status(), 204)
    assert.equal(await tokenOf(page), '')
    const after = await fetch(`${dashboard.origin}/baremetal/v1/nodes`, { headers: { 'x-auth-token': token } })
    assert.equal(after.status, 401)
  })

  test('whoever comes next sees nothing of what the one before was told or had open', async () => {
    const page = await dashboard.open('/ui/operator', { as: null, expecting: /401|409/ })
    await logIn(page, dashboard, 'carol')
    await page.route('**/maintenance', route => route.fulfill({ status: 409, json: { error: { message: 'not now' } } }))
    const reasons = page.getByRole('region', { name: words.operator.maintenance }).getByRole('listitem')
    await reasons.first().getByRole('button').click()
    await page.locator('.toast').waitFor()
    await page.getByRole('navigation').getByRole('link', { name: words.shell.now }).first().click()
    await page.getByRole('button', { name: words.now.getOne }).click()
    const sheet = page.getByRole('dialog')
    await sheet.waitFor()
    const headers = { 'x-auth-token': await tokenOf(page) }
    await fetch(`${dashboard.origin}/ui/identity/v3/auth/tokens`, { method: 'DELETE', headers })
    // Whatever the page asks next, this or something by itself, tells it of the end.
    const filled = sheet.getByLabel(words.booking.count).fill('2')
    filled.catch(() => {})
    await page.getByText(words.login.ended).waitFor()
    await logIn(page, dashboard, 'bob')
    await me(page, words.shell.me('bob', 'nlp')).waitFor()
    assert.deepEqual([await sheet.count(), await page.locator('.toast').count()], [0, 0])
  })

  test('another project shows nothing of the one before, and logging out ends the tokens of both', async () => {
    const { project } = await dashboard.login('alice')
    const { headers: admins } = await dashboard.login('carol')
    const { user } = await dashboard.login('bob')
    const roles = await fetch(`${dashboard.origin}/identity/v3/roles?name=member`, { headers: admins })
    const { id } = ((await roles.json()) as { roles: { id: string; name: string }[] }).roles.find(
      ({ name }) => name === 'member',
    )!
    const grant = `${dashboard.origin}/identity/v3/projects/${project}/users/${user}/roles/${id}`
    assert.equal((await fetch(grant, { method: 'PUT', headers: admins })).status, 204)
    const page = await dashboard.open('/ui/now', { as: null })
    await field(page, words.login.project).fill('nlp')
    await logIn(page, dashboard, 'bob')
    const tokens = [
      await me(page, words.shell.me('bob', 'nlp'))
        .click()
        .then(() => tokenOf(page)),
    ]
    await page.getByRole('menuitem', { name: words.shell.switchTo('vision') }).click()
    await me(page, words.shell.me('bob', 'vision')).click()
    tokens.push(await tokenOf(page))
    const ended = page.waitForResponse(answer => answer.request().headers()['x-auth-token'] === tokens[0])
    await page.getByRole('menuitem', { name: words.shell.logOut }).click()
    await field(page, words.login.user).waitFor()
    await ended
    for (const token of tokens) {
      const answer = await fetch(`${dashboard.origin}/baremetal/v1/nodes`, { headers: { 'x-auth-token': token } })
      assert.equal(answer.status, 401)
    }
    await fetch(grant, { method: 'DELETE', headers: admins })
  })

  test('a token that was revoked elsewhere leads to the login, which says why', async () => {
    const page = await dashboard.open('/ui/now', { as: null, expecting: /401/ })
    await logIn(page, dashboard, 'bob')
    await me(page, words.shell.me('bob', 'nlp')).waitFor()
    const token = await tokenOf(page)
    const headers = { 'x-auth-token': token, 'x-subject-token': token }
    await fetch(`${dashboard.origin}/identity/v3/auth/tokens`, { method: 'DELETE', headers })
    await page.getByText(words.login.ended).waitFor()
  })

  test('an application credential opens its project', async () => {
    const { user, headers } = await dashboard.login('alice')
    const made = await fetch(`${dashboard.origin}/identity/v3/users/${user}/application_credentials`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ application_credential: { name: 'for a browser' } }),
    })
    const { application_credential: credential } = (await made.json()) as {
      application_credential: { id: string; secret: string }
    }
    const page = await dashboard.open('/ui/mine', { as: null, expecting: /401/ })
    await page.getByRole('button', { name: words.login.withCredential }).click()
    await axeClean(page)
    await field(page, words.login.credential).fill(credential.id)
    await field(page, words.login.secret).fill('wrong')
    await enter(page)
    await page.getByRole('alert').waitFor()
    await field(page, words.login.secret).fill(credential.secret)
    await enter(page)
    await me(page, words.shell.me('alice', 'vision')).waitFor()
  })
})

atDashboard(
  'the dashboard where everyone gets in',
  dashboard => {
    test('asks nothing, and has nothing to log out of', async () => {
      const page = await dashboard.open('/ui/')
      const menu = page.locator('header .me')
      await menu.click()
      await page.getByRole('menuitem', { name: words.shell.keys }).waitFor()
      assert.equal(await page.getByRole('menuitem', { name: words.shell.logOut }).count(), 0)
      assert.match(page.url(), /\/ui\/now$/)
    })
  },
  { auth: 'none', nodes: 0 },
)

const keystone = new FakeKeystone()
await keystone.start()
after(() => keystone.stop())

atDashboard(
  'the dashboard for users of Keystone',
  dashboard => {
    test('logs in and out by way of the server, and asks no other', async () => {
      keystone.passwords.set('ann', 'right')
      const page = await dashboard.open('/ui/now', { as: null })
      await field(page, words.login.user).fill('ann')
      await field(page, words.login.password).fill('right')
      await field(page, words.login.domain).fill('campus')
      await enter(page)
      await me(page, words.shell.me('ann', 'lab')).click()
      const user = { name: 'ann', domain: { name: 'campus' }, password: 'right' }
      const identity = { methods: ['password'], password: { user } }
      // Without a project first, and then in the only one that she has.
      assert.deepEqual(keystone.entered, [
        { auth: { identity } },
        { auth: { identity, scope: { project: { id: 'id-of-lab' } } } },
      ])
      await page.getByRole('menuitem', { name: words.shell.logOut }).click()
      await field(page, words.login.user).waitFor()
      assert.equal(keystone.tokens.size, 0)
    })
  },
  { auth: 'keystone', keystoneUrl: keystone.url, keystonePassword: keystone.password, nodes: 0 },
)
