// The outbox below the API: what the transactions promise when processes meet, die, come late, or fall behind.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { pruneSealed, sealNext } from '../../src/audit/seals.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { checkEverything } from '../../src/measure/fsck.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { limits } from '../../src/shared/limits.ts'
import { fanOut } from '../../src/webhooks/fan-out.ts'
import { deal, NO_TURNS } from '../../src/webhooks/dealing.ts'
import { dropDelivery, lastDeliveries, type Taken } from '../../src/webhooks/outbox.ts'
import { settle } from '../../src/webhooks/settle.ts'
import { narrowWebhooks } from '../../src/webhooks/makers.ts'
import { contenders, take } from '../../src/webhooks/taking.ts'
import {
  createWebhook,
  deleteWebhook,
  findWebhook,
  pauseWebhook,
  resumeWebhook,
  typesText,
  type Webhook,
} from '../../src/webhooks/webhooks.ts'
import { eachDatabase } from '../support/stores.ts'
import { allocation, tell } from './receiver.ts'

const ALL = { project: null, all: 1 } as const
const OK = { status: 204, ms: 1, text: '', error: null, retryAfterMs: null }
const HOUR_MS = 3_600_000

eachDatabase('the outbox', databases => {
  let store: Store
  let other: Store
  let hooks: Webhook[] = []

  before(async () => {
    const database = await databases.create()
    store = openStore(database)
    other = databases.kind === 'postgres' ? openStore(database) : store
  })
  after(async () => {
    await store.close()
    if (other !== store) await other.close()
  })

  const create = async (project: string | null = 'p1') => {
    const settings = {
      name: '',
      url: 'https://example.org/',
      types: typesText([]),
      object: null,
      only_project: null,
      only_user: null,
    }
    const maker = { user: 'u', project, roles: new Set(['admin']), systemScope: false }
    const { webhook } = await store.write(() => createWebhook({ settings, project, maker }, systemClock))
    hooks.push(webhook)
    return webhook
  }
  const takeIn = async (at: Store, now = Date.now()) => {
    await at.ordered()
    while (await at.write(() => fanOut({ sees: () => true, source: '/test' }, now)));
  }
  const due = (at: Store, now: number) => at.read(() => contenders(now))
  /** All that is due, however many places that needs. */
  const takeAll = async (at: Store, now: number): Promise<Taken[]> => {
    const places = (await due(at, now)).flatMap(one => Array.from({ length: limits.deliveriesPendingMax }, () => one))
    return at.write(() => take(places, now))
  }
  const settled = (at: Store, taken: Taken, now: number) =>
    at.write(() => settle(taken, OK, { kind: 'delivered' }, now))
  const numberIn = ({ message }: Taken) => (JSON.parse(message.body) as { data: { n: number } }).data.n
  const clean = async () => {
    for (const { uuid } of hooks) await store.write(() => deleteWebhook(uuid, ALL))
    hooks = []
  }
  const expectSound = async () => {
    const wrong = (await checkEverything(store)).filter(({ violations }) => violations > 0)
    assert.deepEqual(wrong, [])
  }

  void test('processes that take in the same events at once put each in once', async () => {
    const [one, two] = [await create(), await create(null)]
    const told = 60
    const telling = (async () => {
      for (let n = 0; n < told; n++) await tell(store, allocation(`o${n % 7}`, 'renewed', 'p1', { n }))
    })()
    const takers = [store, other, store, other].map(async at => {
      for (let i = 0; i < 10; i++) await takeIn(at)
    })
    await Promise.all([telling, ...takers])
    await takeIn(store)
    const found: Record<string, Record<string, number[]>> = {}
    for (let now = Date.now(); ; now++) {
      const taken = await takeAll(now % 2 === 0 ? store : other, now)
      if (taken.length === 0) break
      await expectSound()
      for (const delivery of taken) {
        const by = (found[delivery.target.uuid] ??= {})
        ;(by[delivery.subject] ??= []).push(numberIn(delivery))
        await settled(store, delivery, now)
      }
    }
    for (const { uuid } of [one, two]) {
      for (let o = 0; o < 7; o++) {
        const expected = Array.from({ length: told }, (_, n) => n).filter(n => n % 7 === o)
        assert.deepEqual(found[uuid]![`allocation/o${o}`], expected)
      }
    }
    await clean()
  })

  void test('a full outbox takes in no more, and goes on where it was', async () => {
    const { uuid } = await create()
    const told = limits.deliveriesPendingMax + 150
    for (let n = 0; n < told; n += 50) {
      await tell(store, ...Array.from({ length: 50 }, (_, i) => allocation(`f${n + i}`, 'renewed', 'p1', { n: n + i })))
    }
    const now = Date.now()
    await takeIn(store, now)
    const first = await takeAll(store, now)
    assert.equal(first.length, limits.deliveriesPendingMax)
    await takeIn(store, now)
    assert.equal((await takeAll(store, now)).length, 0)
    for (const delivery of first) await settled(store, delivery, now)
    await takeIn(store, now)
    const rest = await takeAll(store, now)
    const numbers = [...first, ...rest].map(numberIn)
    assert.deepEqual(
      numbers,
      Array.from({ length: told }, (_, n) => n),
    )
    assert.equal((await store.read(() => findWebhook(uuid, ALL))).missed_at, null)
    await expectSound()
    await clean()
  })

  void test('the answer of a process that was given up changes nothing', async () => {
    await create()
    const id = randomUUID()
    await tell(store, allocation(id, 'created'), allocation(id, 'ended'))
    const now = Date.now()
    await takeIn(store, now)
    const [early] = (await takeAll(store, now)) as [Taken]
    assert.deepEqual(await takeAll(other, now + limits.deliveryTermMs - 1), [], 'it is under way')
    const late = now + limits.deliveryTermMs
    const [again] = (await takeAll(other, late)) as [Taken]
    assert.deepEqual([again.message, again.attempts], [early.message, 2])
    await settled(store, early, late)
    assert.deepEqual(await takeAll(store, late), [], 'the next one waits for the second try')
    await settled(other, again, late)
    const [next] = (await takeAll(store, late)) as [Taken]
    assert.match(next.message.body, /allocation\.ended/)
    await expectSound()
    await clean()
  })

  void test('giving up on a delivery sends none before it once more, and lets those behind it go', async () => {
    const { id } = await create()
    const subject = randomUUID()
    for (let n = 0; n < 3; n++) await tell(store, allocation(subject, 'renewed', 'p1', { n }))
    const now = Date.now()
    await takeIn(store, now)
    const [first] = (await takeAll(store, now)) as [Taken]
    const [last, middle] = await store.read(() => lastDeliveries(id, 3))
    const giveUp = (delivery: number) => store.write(() => dropDelivery(String(delivery), id, true, now))
    await giveUp(middle!.id)
    assert.deepEqual(await takeAll(other, now), [], 'the first is under way')
    await giveUp(first.id)
    assert.deepEqual((await takeAll(other, now)).map(numberIn), [2])
    await settled(store, first, now)
    assert.deepEqual(await takeAll(other, now), [], 'the last is under way')
    assert.equal((await store.read(() => lastDeliveries(id, 1)))[0]!.id, last!.id)
    await expectSound()
    await clean()
  })

  void test('a webhook whose place in the log is gone goes on with the oldest entry, and says so', async () => {
    const { uuid } = await create()
    await tell(store, allocation('gone', 'created'))
    await tell(store, allocation('gone', 'ended'))
    const later = Date.now() + HOUR_MS
    const seal = async () => {
      await store.ordered()
      while ((await store.write(() => sealNext(later))) > 0);
    }
    await seal()
    // The newest seal stays.
    await tell(store, allocation('kept', 'created'))
    await seal()
    while ((await store.write(() => pruneSealed(later + 1))) > 0);
    await takeIn(store, later)
    const taken = await takeAll(store, later)
    assert.deepEqual(
      taken.map(({ subject }) => subject),
      ['allocation/kept'],
    )
    assert.equal((await store.read(() => findWebhook(uuid, ALL))).missed_at, later)
    await clean()
  })

  void test('fsck finds a delivery that nobody would send, and a webhook that is ahead of the log', async () => {
    const { id } = await create()
    await tell(store, allocation(randomUUID(), 'created'))
    await takeIn(store)
    await expectSound()
    const found = async (damage: string) => {
      await store.script(run => run(damage))
      return (await checkEverything(store)).filter(({ violations }) => violations > 0).map(({ invariant }) => invariant)
    }
    const [unsent, ...others] = await found(`update deliveries set due_at = null where webhook_id = ${id}`)
    assert.match(unsent!, /only the oldest is due/)
    assert.deepEqual(others, [])
    const ahead = await found(`update webhooks set cursor_sequence = 1000000000 where id = ${id}`)
    assert.match(ahead[1]!, /ahead of the log/)
    await clean()
  })

  void test('who has something due gets a place, whoever else has more; what failed last has few until one is taken', async () => {
    const [busy, quiet] = [await create('p1'), await create('p1')]
    await tell(store, ...Array.from({ length: 20 }, () => allocation(randomUUID(), 'created')))
    const now = Date.now()
    await takeIn(store, now)
    await store.write(() => pauseWebhook(quiet.uuid, ALL, 'someone', now))
    const first = deal(await due(store, now), [], NO_TURNS)
    assert.deepEqual([...new Set(first.dealt.map(({ webhook }) => webhook))], [busy.id])
    const taken = await store.write(() => take(first.dealt, now))
    assert.equal(taken.length, limits.deliveryLanes.first.ofWebhook)
    await store.write(() => resumeWebhook(quiet.uuid, ALL, now))
    const second = deal(await due(store, now), taken, first.turns)
    assert.deepEqual([...new Set(second.dealt.map(({ webhook }) => webhook))], [quiet.id])
    const [failed, ...others] = taken as [Taken, ...Taken[]]
    const retry = { kind: 'retry' as const, at: now + 5_000, isForAll: false }
    await store.write(() => settle(failed, { ...OK, error: 'no' }, retry, now))
    const lanes = async () => Object.fromEntries((await due(store, now)).map(({ webhook, lane }) => [webhook, lane]))
    assert.deepEqual(await lanes(), { [busy.id]: 'again', [quiet.id]: 'first' })
    const { dealt } = deal(await due(store, now), [], NO_TURNS)
    assert.equal(dealt.filter(({ webhook }) => webhook === busy.id).length, 1)
    await settled(store, others[0]!, now)
    assert.deepEqual(await lanes(), { [busy.id]: 'first', [quiet.id]: 'first' })
    await clean()
  })

  void test('webhooks of all projects share places with those of the same maker only', async () => {
    await create(null)
    await create('p1')
    await tell(store, allocation(randomUUID(), 'created'))
    const now = Date.now()
    await takeIn(store, now)
    assert.deepEqual(
      (await due(store, now)).map(({ owner }) => owner),
      ['user u', 'project p1'],
    )
    await clean()
  })

  void test('a webhook has no more roles than its maker, and none without one', async () => {
    const { uuid } = await create('p1')
    const narrowed = async (roles: readonly string[]) => {
      const rolesNow = (_: string, project: string | null) => new Set(project === 'p1' ? roles : ['admin'])
      await store.write(() => narrowWebhooks(rolesNow, 1))
      const { maker_roles, state, reason } = await store.read(() => findWebhook(uuid, ALL))
      return [maker_roles, state, reason]
    }
    assert.deepEqual(await narrowed(['admin', 'member']), ['admin', 'active', null])
    assert.deepEqual(await narrowed(['member']), ['', 'disabled', 'Whoever made it has no role any more.'])
    assert.deepEqual((await narrowed(['admin']))[0], '', 'what is lost does not come back')
  })
})
