import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Book, type BookInventory, type BookProvider } from './book.ts'
import type { ClaimRequest, ConsumerClaims } from './claim.ts'
import { decide } from './decide.ts'
import { asId } from '../../../test/support/ids.ts'

const CLASSES = ['VCPU', 'DISK_GB']

interface Terms {
  capacity: number
  used: number
  minUnit: number
  maxUnit: number
  stepSize: number
  blocked: boolean
}
const ROOMY: Terms = { capacity: 10, used: 0, minUnit: 1, maxUnit: 10, stepSize: 1, blocked: false }

type Owned = Pick<BookProvider, 'parentId' | 'managedBy' | 'dedicatedTo'>

function bookWith(terms: readonly Partial<Terms>[], owners: readonly Partial<Owned>[] = []): Book {
  const book = new Book(new Set(CLASSES))
  terms.forEach((given, i) => {
    const id = asId<BookProvider['id']>(i)
    const inventories = new Map<string, BookInventory>()
    CLASSES.forEach((resourceClass, classId) => {
      const { used, ...rest } = { ...ROOMY, ...given }
      inventories.set(resourceClass, {
        providerId: id,
        classId: asId(classId),
        resourceClass,
        ...rest,
        usedBefore: used,
        used,
      })
    })
    const owned = { parentId: null, managedBy: null, dedicatedTo: null, ...owners[i] }
    book.addProvider({ id, uuid: `p${id}`, revision: 0, generation: 0, ...owned, bumps: 0, inventories })
  })
  return book
}

function claims(consumer: string, resources: Record<string, Record<string, number>>, rest = {}): ConsumerClaims {
  const byProvider = Object.entries(resources).map(([provider, amounts]) => [
    provider,
    new Map(Object.entries(amounts)),
  ])
  const owners = { projectId: 'project', userId: 'user', type: 'INSTANCE', generation: undefined }
  return { consumer, ...owners, resources: new Map(byProvider as [string, Map<string, number>][]), ...rest }
}
const replace = (...consumers: ConsumerClaims[]): ClaimRequest => ({ kind: 'replace', consumers, owner: null })
const release = (consumer: string): ClaimRequest => ({ kind: 'release', consumer, owner: null })
const used = (book: Book, provider = 'p0', resourceClass = 'VCPU') =>
  book.providers.get(provider)!.inventories.get(resourceClass)!.used

describe('deciding a claim', () => {
  test('what fits is granted, and the consumer starts at generation 1', () => {
    const book = bookWith([{}])
    assert.equal(decide(book, replace(claims('a', { p0: { VCPU: 10 } }))), null)
    assert.equal(used(book), 10)
    assert.equal(book.consumer('a').now?.generation, 1)
  })

  test('a dedicated provider is claimed only together with a child that its owner manages', () => {
    const owners: Partial<Owned>[] = [
      { dedicatedTo: 'leases' },
      { parentId: asId(0), managedBy: 'leases' },
      { parentId: asId(0) },
    ]
    const book = bookWith([{}, {}, {}], owners)
    const kind = (...all: ConsumerClaims[]) => decide(book, replace(...all))?.kind
    assert.equal(kind(claims('a', { p0: { VCPU: 1 } })), 'claim_on_dedicated_provider')
    assert.equal(kind(claims('a', { p0: { VCPU: 1 }, p2: { VCPU: 1 } })), 'claim_on_dedicated_provider')
    const others = [claims('a', { p0: { VCPU: 1 } }), claims('b', { p1: { VCPU: 1 } })]
    assert.equal(kind(...others), 'claim_on_dedicated_provider')
    assert.equal(used(book), 0)
    assert.equal(kind(claims('a', { p0: { VCPU: 1 }, p1: { VCPU: 1 } })), undefined)
    assert.equal(used(book), 1)
  })

  test('one more than fits is refused and changes nothing', () => {
    const book = bookWith([{}])
    const refusal = decide(book, replace(claims('a', { p0: { VCPU: 10 } }), claims('b', { p0: { VCPU: 1 } })))
    assert.equal(refusal?.kind, 'claim_exceeds_capacity')
    assert.equal(used(book), 0)
    assert.equal(book.consumer('a').now, null)
  })

  test('a write replaces all that the consumer had, so its old use does not count', () => {
    const book = bookWith([{}, {}])
    decide(book, replace(claims('a', { p0: { VCPU: 8 } })))
    assert.equal(decide(book, replace(claims('a', { p0: { VCPU: 9 } }))), null)
    assert.equal(decide(book, replace(claims('a', { p1: { VCPU: 3 } }))), null)
    assert.deepEqual([used(book), used(book, 'p1')], [0, 3])
  })

  test('consumers swap places in one request although neither would fit beside the other', () => {
    const book = bookWith([{}, {}])
    decide(book, replace(claims('a', { p0: { VCPU: 10 } }), claims('b', { p1: { VCPU: 10 } })))
    assert.equal(decide(book, replace(claims('a', { p1: { VCPU: 10 } }), claims('b', { p0: { VCPU: 10 } }))), null)
  })

  test('an over-full inventory may be rewritten but not raised', () => {
    const book = bookWith([{}])
    decide(book, replace(claims('a', { p0: { VCPU: 8 } })))
    Object.assign(book.providers.get('p0')!.inventories.get('VCPU')!, { capacity: 4 })
    assert.equal(decide(book, replace(claims('a', { p0: { VCPU: 8 } }))), null)
    assert.equal(decide(book, replace(claims('a', { p0: { VCPU: 9 } })))?.kind, 'claim_exceeds_capacity')
  })

  test('a blocked inventory takes no new claim but gives its claims back', () => {
    const book = bookWith([{}])
    decide(book, replace(claims('a', { p0: { VCPU: 1 } })))
    Object.assign(book.providers.get('p0')!.inventories.get('VCPU')!, { blocked: true })
    assert.equal(decide(book, replace(claims('b', { p0: { VCPU: 1 } })))?.kind, 'claim_exceeds_capacity')
    assert.equal(decide(book, release('a')), null)
  })

  test('what is claimed of a blocked inventory may go to another consumer, but not become more', () => {
    const book = bookWith([{}])
    decide(book, replace(claims('server', { p0: { VCPU: 2 } })))
    Object.assign(book.providers.get('p0')!.inventories.get('VCPU')!, { blocked: true })
    const kind = (...all: ConsumerClaims[]) => decide(book, replace(...all))?.kind
    assert.equal(kind(claims('server', {}), claims('move', { p0: { VCPU: 2 } })), undefined)
    assert.equal(kind(claims('move', { p0: { VCPU: 1 } }), claims('server', { p0: { VCPU: 1 } })), undefined)
    const more = [claims('move', {}), claims('server', { p0: { VCPU: 2 } }), claims('b', { p0: { VCPU: 1 } })]
    assert.equal(kind(...more), 'claim_exceeds_capacity')
    assert.equal(kind(claims('move', {}), claims('server', { p0: { VCPU: 2, DISK_GB: 3 } })), undefined)
    assert.deepEqual([used(book), used(book, 'p0', 'DISK_GB')], [2, 3])
    assert.equal(kind(claims('server', { p0: { VCPU: 1 } })), undefined)
    assert.equal(kind(claims('server', { p0: { VCPU: 2 } })), 'claim_exceeds_capacity')
  })

  test('units are checked for each claim', () => {
    const book = bookWith([{ minUnit: 2, maxUnit: 6, stepSize: 2 }])
    for (const amount of [1, 3, 8]) {
      assert.equal(decide(book, replace(claims('a', { p0: { VCPU: amount } })))?.kind, 'claim_violates_units')
    }
    assert.equal(decide(book, replace(claims('a', { p0: { VCPU: 4 } }))), null)
  })

  test('generations: null means new, a number must match, and each write raises it', () => {
    const book = bookWith([{}])
    const write = (generation: number | null) => decide(book, replace(claims('a', { p0: { VCPU: 1 } }, { generation })))
    assert.equal(write(1)?.kind, 'consumer_generation_conflict')
    assert.equal(write(null), null)
    assert.equal(write(null)?.kind, 'consumer_generation_conflict')
    assert.equal(write(1), null)
    assert.equal(book.consumer('a').now?.generation, 2)
  })

  test('a cleared consumer is gone, raises the generation of what it had, and may come again as new', () => {
    const book = bookWith([{}])
    decide(book, replace(claims('a', { p0: { VCPU: 1 } })))
    assert.equal(decide(book, replace(claims('a', {}))), null)
    assert.equal(book.consumer('a').now, null)
    assert.equal(book.providers.get('p0')!.generation, 2)
    assert.equal(decide(book, replace(claims('a', { p0: { VCPU: 1 } }, { generation: null }))), null)
  })

  test('clearing an unknown consumer leaves none behind, releasing one is a problem', () => {
    const book = bookWith([{}])
    assert.equal(decide(book, replace(claims('a', {}, { generation: null }))), null)
    assert.equal(book.consumer('a').now, null)
    assert.equal(decide(book, release('a'))?.kind, 'consumer_without_claims')
  })

  test('a consumer that another part manages is refused to all others', () => {
    const book = bookWith([{}])
    decide(book, { kind: 'replace', consumers: [claims('a', { p0: { VCPU: 1 } })], owner: 'baremetal' })
    assert.equal(decide(book, replace(claims('a', { p0: { VCPU: 2 } })))?.kind, 'consumer_managed')
    assert.equal(decide(book, release('a'))?.kind, 'consumer_managed')
  })

  test('unknown names: first providers, then classes, then inventories', () => {
    const book = bookWith([{}])
    book.providers.get('p0')!.inventories.delete('DISK_GB')
    const kind = (resources: Record<string, Record<string, number>>) =>
      decide(book, replace(claims('a', resources)))?.kind
    assert.equal(kind({ p0: { COWS: 1 }, p9: { VCPU: 1 } }), 'claim_on_unknown_provider')
    assert.equal(kind({ p0: { DISK_GB: 1, COWS: 1 } }), 'claim_on_unknown_class')
    assert.equal(kind({ p0: { DISK_GB: 1 } }), 'claim_without_inventory')
  })
})

const amounts = fc.dictionary(fc.constantFrom(...CLASSES), fc.integer({ min: 1, max: 6 }), { minKeys: 1 })
const resources = fc.dictionary(fc.constantFrom('p0', 'p1', 'p2'), amounts)
const consumer = fc.constantFrom('a', 'b', 'c', 'd')
const someRequest = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(consumer, resources, { minKeys: 1, maxKeys: 3 }) },
  { weight: 1, arbitrary: consumer },
)

test('whatever is asked, use is the sum of the claims, within capacity, and a refusal changes nothing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 3, maxLength: 3 }),
      fc.array(someRequest),
      fc.nat({ max: 8 }),
      (sizes, asked, closedAfter) => {
        const book = bookWith(sizes.map(capacity => ({ capacity })))
        for (const [i, one] of asked.entries()) {
          // Of the first provider nothing new can be had from then on.
          const closed = i >= closedAfter ? [...book.providers.get('p0')!.inventories.values()] : []
          for (const inventory of closed) Object.assign(inventory, { blocked: true })
          const most = closed.map(inventory => inventory.used)
          const request =
            typeof one === 'string' ? release(one) : replace(...Object.entries(one).map(([c, r]) => claims(c, r)))
          const before = state(book)
          if (decide(book, request)) assert.deepEqual(state(book), before)
          closed.forEach((inventory, at) => assert.ok(inventory.used <= most[at]!, 'a closed inventory has more'))
          for (const [provider, { inventories }] of book.providers) {
            for (const inventory of inventories.values()) {
              const sum = [...book.consumers.values()].reduce((total, c) => total + (c.claims.get(inventory) ?? 0), 0)
              assert.equal(inventory.used, sum, provider)
              assert.ok(inventory.used <= inventory.capacity)
            }
          }
          for (const { now, claims: have } of book.consumers.values()) assert.equal(now !== null, have.size > 0)
        }
      },
    ),
  )
})

function state(book: Book): unknown {
  return {
    used: [...book.providers.values()].map(p => [p.generation, ...[...p.inventories.values()].map(i => i.used)]),
    consumers: [...book.consumers.values()].filter(c => c.now).map(c => [c.uuid, c.now, [...c.claims.values()]]),
  }
}
