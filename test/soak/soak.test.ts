// A soak that is too short to judge what grows: everything runs at once on both stores, and nothing goes wrong.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { soak } from './soak.ts'

for (const store of ['sqlite', 'postgres'] as const) {
  test(`everything at once on ${store}: nothing is lost, and all that is measured is judged`, async () => {
    const { faults, changes, verdicts, kept } = await soak({
      store,
      seconds: 15,
      everySeconds: 2,
      pauseMs: 50,
      progress: () => {},
    })
    assert.deepEqual(faults, [])
    assert.ok(changes > 0)
    const names = new Set(verdicts.map(({ name }) => name))
    for (const name of [
      'process 0 RSS MiB',
      'process 0 heap MiB',
      'process 0 descriptors',
      'WAL MiB',
      'rows in claims',
    ]) {
      assert.ok(names.has(name), name)
    }
    assert.ok(kept.some(({ name }) => name === 'rows in log'))
  })
}
