// Requests for thousands of claims, beside small ones: these go between them, and on PostgreSQL past them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/clock/clock.ts'
import type { ClaimRequest } from '../../src/ledger/claims/claim.ts'
import { ClaimQueue } from '../../src/ledger/claims/queue.ts'
import { Mirror } from '../../src/ledger/mirror.ts'
import { checkEverything } from '../../src/measure/fsck.ts'
import { limits } from '../../src/shared/limits.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { all } from '../../src/store/transaction.ts'
import { traitsLike } from '../store/statements.ts'
import { eachDatabase } from '../support/stores.ts'

const CONSUMERS = limits.claimBatchRowsMax + 1
const PATIENCE = 2_000

eachDatabase('large claims', ({ kind, create }) => {
  let store: Store
  let queue: ClaimQueue<string>
  /** What a large request waits for before its commit, as long as its patience lasts. */
  let isAwaited: () => boolean = () => true

  before(async () => {
    store = openStore(await create(), { origin: 'here' })
    const mirror = new Mirror(store, () => {})
    await mirror.load()
    store.onCommit(({ changes }) => mirror.absorb(changes))
    queue = new ClaimQueue<string>(store, systemClock, {
      ...(kind === 'sqlite' ? { onMemory: mirror } : { atOnce: { mirror, origin: 'here' } }),
      *record(changes) {
        if (!changes.some(({ entry }) => entry === 'large')) return
        for (let left = PATIENCE; left > 0 && !isAwaited(); left--) yield* all(traitsLike({ pattern: 'NONE' }))
      },
    })
  })
  after(async () => {
    const findings = await checkEverything(store)
    await store.close()
    assert.deepEqual(
      findings.filter(({ violations }) => violations > 0),
      [],
    )
  })

  async function addProvider(): Promise<string> {
    const uuid = randomUUID()
    await store.script(async run => {
      await run(`insert into providers (uuid, name, created_at) values ('${uuid}', '${uuid}', 0)`)
      await run(`update providers set root_id = id where uuid = '${uuid}'`)
      await run(`
        insert into inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio,
          capacity, ceiling, created_at)
        select p.id, c.id, 100000, 0, 1, 100000, 1, 1, 100000, 100000, 0 from providers p, resource_classes c
          where p.uuid = '${uuid}' and c.name = 'VCPU'`)
    })
    return uuid
  }

  const claim = (provider: string, consumers = 1): ClaimRequest => ({
    kind: 'replace',
    owner: null,
    consumers: Array.from({ length: consumers }, () => ({
      consumer: randomUUID(),
      projectId: 'p',
      userId: 'u',
      type: 'INSTANCE',
      generation: null,
      resources: new Map([[provider, new Map([['VCPU', 1]])]]),
    })),
  })

  test('let a small one go before the next of them', async () => {
    const [provider, other] = [await addProvider(), await addProvider()]
    const order: string[] = []
    const submit = (name: string, request: ClaimRequest) =>
      queue.submit(request, name).then(() => void order.push(name))
    await Promise.all([
      submit('first', claim(provider, CONSUMERS)),
      submit('second', claim(provider, CONSUMERS)),
      submit('small', claim(other)),
      submit('of the same', claim(provider)),
    ])
    assert.equal(order.length, 4)
    assert.ok(order.indexOf('small') < order.indexOf('second'), order.join(', '))
  })

  test('on postgres hold up only who needs the same providers', { skip: kind === 'sqlite' }, async () => {
    const [provider, other] = [await addProvider(), await addProvider()]
    let isPast = false
    isAwaited = () => isPast
    const order: string[] = []
    const submit = (name: string, request: ClaimRequest) =>
      queue.submit(request, name).then(() => void order.push(name))
    const large = submit('large', claim(provider, CONSUMERS))
    await new Promise(resolve => setImmediate(resolve))
    const behind = submit('of the same', claim(provider))
    await submit('small', claim(other))
    isPast = true
    await Promise.all([large, behind])
    assert.deepEqual(order, ['small', 'large', 'of the same'])
  })
})
