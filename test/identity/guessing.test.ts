// A flood of wrong passwords: answered without the work of checking them, while others come and go as ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../src/shared/limits.ts'
import { inParallel } from '../races/clients.ts'
import { eachIdentity, Identity } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { isLong } from '../support/rounds.ts'

const FLOOD = isLong ? 10_000 : 2_000

eachIdentity('a flood of wrong passwords', ({ api }) => {
  test('are mostly not looked at, and keep nobody else from working', async () => {
    const others = new Identity(api.origin)
    const token = await others.token('alice')
    const seen = new Map<number, number>()
    const flooding = { isOver: false }
    const flood = inParallel(64, FLOOD, async index => {
      const answer = await api.logIn('alice', `guess ${index}`)
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
      if (answer.status !== 429) return
      const seconds = Number(answer.headers['retry-after'])
      assert.ok(seconds >= 1 && seconds <= limits.attemptsSpanMs / 1_000, String(seconds))
      assert.deepEqual([answer.body.error.code, answer.body.error.title], [429, 'Too Many Requests'])
    }).finally(() => (flooding.isOver = true))
    let served = 0
    while (!flooding.isOver || served === 0) {
      assert.equal(await others.knock(token), 200)
      expectStatus(await others.logIn('bob'), 201)
      expectStatus(await others.logIn('alice'), 201)
      served++
    }
    await flood
    // A span may end while the flood goes on, and another few are looked at.
    const looked = seen.get(401)!
    assert.ok(looked >= limits.attemptsPerUserMax && looked <= FLOOD / 10, `looked at ${looked}`)
    assert.equal(looked + seen.get(429)!, FLOOD)
    const metrics = await (await fetch(`${api.origin}/metrics`)).text()
    const throttled = /^holdfast_authentications_total\{method="password",outcome="throttled"\} (\d+)$/m.exec(metrics)
    assert.equal(Number(throttled?.[1]), seen.get(429))
    assert.doesNotMatch(metrics, /alice/)
    others.close()
  })

  test('count for HTTP Basic too, in the form of the API that was asked', async () => {
    const wrong = (index: number) => ({
      headers: { authorization: `Basic ${Buffer.from(`carol:guess ${index}`).toString('base64')}` },
    })
    for (let i = 0; i < limits.attemptsPerUserMax; i++) await fetch(`${api.origin}/baremetal/v1/nodes`, wrong(i))
    const metal = await fetch(`${api.origin}/baremetal/v1/nodes`, wrong(-1))
    assert.equal(metal.status, 429)
    assert.match(((await metal.json()) as { error_message: string }).error_message, /too many attempts/)
    const placement = await fetch(`${api.origin}/placement/traits`, wrong(-2))
    assert.equal(placement.status, 429)
    const { errors } = (await placement.json()) as { errors: { status: number }[] }
    assert.equal(errors[0]!.status, 429)
    const ours = await fetch(`${api.origin}/holdfast/v1/fsck`, wrong(-3))
    assert.equal(ours.status, 429)
    for (const answer of [metal, placement, ours]) assert.ok(Number(answer.headers.get('retry-after')) >= 1)
  })
})
