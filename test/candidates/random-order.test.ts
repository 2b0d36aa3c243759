// The option for random order: another order each time, the same candidates, and with a limit another choice of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachStore } from '../support/stores.ts'
import { candidates, newClass, normalised, providersIn } from './questions.ts'

const HOSTS = 30

const orderOf = ({ requests }: Awaited<ReturnType<typeof candidates>>) =>
  requests.map(request => Object.keys(request.allocations).join())

eachStore(
  'candidates in random order',
  api => {
    test('come in different orders and are the same ones', async () => {
      const name = await newClass(api)
      for (let host = 0; host < HOSTS; host++) await api.provider({ [name]: 1 })
      const answers = await Promise.all(Array.from({ length: 6 }, () => candidates(api, `resources=${name}:1`)))
      assert.equal(new Set(answers.map(normalised)).size, 1)
      assert.equal(answers[0]!.requests.length, HOSTS)
      assert.ok(new Set(answers.map(answer => orderOf(answer).join())).size > 1)
      const few = await Promise.all(Array.from({ length: 20 }, () => candidates(api, `resources=${name}:1&limit=2`)))
      assert.deepEqual(new Set(few.map(({ requests }) => requests.length)), new Set([2]))
      assert.ok(new Set(few.map(answer => providersIn(answer).join())).size > 1, 'not always the same two')
    })

    test('are as many as there are in a tree too', async () => {
      const [cpu, disk] = [await newClass(api), await newClass(api)]
      const root = await api.provider({ [disk]: 9 })
      for (let child = 0; child < 5; child++) await api.provider({ [cpu]: 2 }, { parent: root })
      const query = `resources=${disk}:1&resources1=${cpu}:1&resources2=${cpu}:1&group_policy=isolate`
      const answers = await Promise.all(Array.from({ length: 6 }, () => candidates(api, query)))
      assert.equal(answers[0]!.requests.length, 5 * 4)
      assert.equal(new Set(answers.map(normalised)).size, 1)
    })
  },
  { randomizeCandidates: true },
)

eachStore('candidates without that option', api => {
  test('come in the same order each time', async () => {
    const name = await newClass(api)
    for (let host = 0; host < HOSTS; host++) await api.provider({ [name]: 1 })
    const answers = await Promise.all(Array.from({ length: 6 }, () => candidates(api, `resources=${name}:1`)))
    assert.equal(new Set(answers.map(answer => orderOf(answer).join())).size, 1)
  })
})
