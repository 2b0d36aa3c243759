// The demo's people: they do every kind of act, and stay within the bounds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../../clock/chance.ts'
import { fleetOf } from './fleet.ts'
import { type Act, BOUNDS, type Kind, nextAct, type Thing } from './live.ts'

const MADE: Partial<Record<Act['kind'], Kind>> = {
  allocate: 'allocation',
  hold: 'hold',
  'start maintenance': 'maintenance',
  book: 'lease',
  launch: 'server',
  claim: 'claim',
}

/** A world where every act succeeds at once, except that some allocations wait. */
function played(seed: number, acts: number) {
  const random = seeded(seed)
  const free = fleetOf({ nodes: 30, seed }).machines.filter(({ fate }) => fate === 'free')
  const [tickMs, seen, most] = [1_000, new Set<string>(), new Map<Kind, number>()]
  const log: string[] = []
  let things: Thing[] = []
  for (let now = 0; now < acts * tickMs; now += tickMs) {
    things = things.filter(({ isForgotten, state, doneAt }) => !(isForgotten && doneAt <= now) || state === 'waiting')
    for (const thing of things) if (thing.state === 'waiting' && thing.doneAt <= now) thing.state = 'ready'
    const act = nextAct({ now, tickMs, things, free, acts: now / tickMs }, random)
    if (!act) continue
    log.push(act.kind)
    seen.add(act.kind === 'give back' || act.kind === 'deploy' ? `${act.kind} ${act.thing.kind}` : act.kind)
    if (act.kind === 'give back') things = things.filter(thing => thing !== act.thing)
    else if (act.kind === 'deploy') Object.assign(act.thing, deployed(act.thing))
    else if (act.kind !== 'ask in vain') {
      const { who, name, isForgotten, lifeMs } = act
      const state = act.kind === 'allocate' && act.waitMs !== null && random() < 0.5 ? 'waiting' : 'ready'
      const on = act.kind === 'launch' ? act.on : null
      const kind = MADE[act.kind]!
      things.push({ kind, who, name, isForgotten, state, on, doneAt: now + lifeMs, isBusy: false })
    }
    for (const kind of Object.keys(BOUNDS) as Kind[]) {
      const count = things.filter(thing => thing.kind === kind).length
      most.set(kind, Math.max(most.get(kind) ?? 0, count))
    }
    const names = things.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length, 'two things have one name')
  }
  return { seen, most, log, things, free }
}

const deployed = ({ kind }: Thing): Partial<Thing> => ({
  kind: kind === 'hold' ? 'machine' : kind,
  state: 'deployed',
})

test('no kind of thing exceeds its bound, with any seed', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    for (const [kind, most] of played(seed, 2_000).most) assert.ok(most <= BOUNDS[kind], `${most} of ${kind}`)
  }
})

test('every kind of act happens', () => {
  assert.deepEqual(
    [...played(7, 2_000).seen].toSorted(),
    [
      'allocate',
      'ask in vain',
      'book',
      'claim',
      'deploy allocation',
      'deploy hold',
      'give back allocation',
      'give back claim',
      'give back hold',
      'give back lease',
      'give back machine',
      'give back maintenance',
      'give back server',
      'hold',
      'launch',
      'start maintenance',
    ].toSorted(),
  )
})

test('the same seed gives the same acts', () => {
  assert.deepEqual(played(3, 300).log, played(3, 300).log)
  assert.notDeepEqual(played(3, 300).log, played(4, 300).log)
})

test('things that are due are given back when no other act is possible', () => {
  const { free } = played(1, 1)
  const who = { name: 'alice', project: 'vision', role: 'member', work: [] } as const
  const base = { who, name: 'x', state: 'ready', isBusy: false, doneAt: 0, isForgotten: false, on: null } as const
  const full = (Object.keys(BOUNDS) as Kind[]).flatMap(kind =>
    Array.from({ length: BOUNDS[kind] }, (): Thing => ({ ...base, kind })),
  )
  for (let seed = 0; seed < 50; seed++) {
    const act = nextAct({ now: 1, tickMs: 1, things: full, free, acts: 0 }, seeded(seed))
    assert.ok(act && ['give back', 'deploy', 'ask in vain'].includes(act.kind), String(act?.kind))
  }
  const busy = full.map(thing => ({ ...thing, isBusy: true }))
  for (let seed = 0; seed < 50; seed++) {
    const act = nextAct({ now: 1, tickMs: 1, things: busy, free, acts: 0 }, seeded(seed))
    assert.ok(act === null || act.kind === 'ask in vain')
  }
})

test('a lease is not given back while servers run on it', () => {
  const who = { name: 'bob', project: 'nlp', role: 'member', work: [] } as const
  const base = { who, name: 'x', state: 'ready', isBusy: false, isForgotten: false } as const
  const lease: Thing = { ...base, kind: 'lease', doneAt: 0, on: null }
  const server: Thing = { ...base, kind: 'server', doneAt: Infinity, on: lease }
  for (let seed = 0; seed < 100; seed++) {
    const act = nextAct({ now: 1, tickMs: 1, things: [lease, server], free: [], acts: 0 }, seeded(seed))
    assert.notEqual(act?.kind, 'give back')
  }
})
