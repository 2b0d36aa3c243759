import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeNova } from './nova.ts'

const nova = {
  url: 'http://controller:8774/v2.1',
  version: '2.93',
  hypervisors: 3,
  problem: null,
  due: 0,
  failing: 0,
  troubles: [],
}

test('a Nova is well when it answers, is new enough and shows its hosts', () => {
  assert.equal(judgeNova(null).grade, 'ok')
  assert.equal(judgeNova(nova).grade, 'ok')
  assert.equal(judgeNova({ ...nova, version: '2.61' }).grade, 'ok')
  assert.equal(judgeNova({ ...nova, version: '2.60' }).grade, 'wrong')
  assert.equal(judgeNova({ ...nova, version: '2.9' }).grade, 'wrong')
})

test('a Nova that is away, or refuses our role, is wrong, and says which', () => {
  const away = { ...nova, version: null, hypervisors: null, problem: "Nova at controller can't be reached." }
  assert.match(judgeNova(away).hint!, /nova-url/)
  const refused = { ...nova, hypervisors: null, problem: 'Nova answered 403 to GET /os-hypervisors/detail: no' }
  assert.match(judgeNova(refused).hint!, /role admin/)
  assert.deepEqual([judgeNova(away).grade, judgeNova(refused).grade], ['wrong', 'wrong'])
})

test('an old Nova, which refuses our version in every request, is told from one that is away', () => {
  const problem = 'Nova answered 406 to GET /os-hypervisors/detail: Version 2.61 is not supported by the API'
  const { found, hint } = judgeNova({ ...nova, version: '2.53', hypervisors: null, problem })
  assert.match(found, /speaks 2\.53 at most/)
  assert.match(hint!, /2\.61/)
})

test('a Nova that refuses our token runs: what it asks for tokens is wrong', () => {
  const problem = 'Nova at controller:8774 refuses our token: The request you have made requires authentication.'
  assert.match(judgeNova({ ...nova, hypervisors: null, problem }).hint!, /keystone_authtoken/)
})

test('work that fails is a warning with its reason', () => {
  const troubles = [{ lease: 'l', reservation: 'r', reason: 'Nova answered 400', failures: 3 }]
  const { grade, found, hint } = judgeNova({ ...nova, due: 2, failing: 1, troubles })
  assert.equal(grade, 'warning')
  assert.match(found, /2 reservations, and 1 of them fail: Nova answered 400/)
  assert.equal(hint, 'holdfast lease show l')
})
