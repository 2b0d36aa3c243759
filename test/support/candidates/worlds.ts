// Test only: random small worlds and questions about them, small enough that collisions of every kind are common.
import * as fc from 'fast-check'
import type { CandidateRequest, Group } from '../../../src/ledger/candidates/request.ts'
import type { InventorySnapshot, ProviderSnapshot } from '../../../src/ledger/candidates/table.ts'
import { asId } from '../ids.ts'

export const CLASSES = ['VCPU', 'MEMORY_MB', 'DISK_GB']
export const TRAITS = ['HW_CPU_X86_AVX', 'HW_CPU_X86_SSE', 'HW_GPU_API_VULKAN']
const SHARING = 'MISC_SHARES_VIA_AGGREGATE'

/** uuid('a', 3): ids that differ and look like uuids. */
export const uuid = (kind: string, n: number) => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, '0')}`
export const AGGREGATES = [1, 2, 3].map(n => uuid('a', n))

const chance = (yes: number, no: number) =>
  fc.oneof({ weight: yes, arbitrary: fc.constant(true) }, { weight: no, arbitrary: fc.constant(false) })

const inventory = (resourceClass: string): fc.Arbitrary<InventorySnapshot> =>
  fc
    .record({
      total: fc.constantFrom(1, 2, 3, 4, 6, 8, 12, 12),
      reserved: fc.constantFrom(0, 0, 0, 0, 0, 1, 2),
      minUnit: fc.constantFrom(1, 1, 1, 1, 1, 1, 2),
      maxUnit: fc.constantFrom(16, 16, 16, 2, 3),
      stepSize: fc.constantFrom(1, 1, 1, 1, 1, 1, 2),
      allocationRatio: fc.constantFrom(1, 1, 1.5, 0.7),
      used: fc.constantFrom(0, 0, 0, 0, 1, 2),
      blocked: chance(1, 15),
    })
    .map(one => ({ resourceClass, ...one, reserved: Math.min(one.reserved, one.total) }))

const oftenOrNull = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary }, { weight: 1, arbitrary: fc.constant(null) })

const provider = fc.record({
  inventories: fc
    .tuple(...CLASSES.map(name => oftenOrNull(inventory(name))))
    .map(list => list.filter(one => one !== null)),
  traits: fc.oneof(fc.subarray(TRAITS), fc.subarray(TRAITS, { minLength: 2 })),
  shares: chance(1, 5),
  aggregates: fc.oneof(fc.constant<string[]>([]), fc.subarray(AGGREGATES)),
  /** Which earlier provider is the parent; a root when there is none at that place. */
  parent: fc.constantFrom(-1, -1, 0, 0, 0, 1, 2, 3),
  dedicatedTo: fc.constantFrom(null, null, null, null, null, null, 'leases'),
  managedBy: fc.constantFrom(null, null, 'leases'),
})

/** Trees up to depth 3; ids are scattered so that row order, id order and tree order differ. */
export const world: fc.Arbitrary<ProviderSnapshot[]> = fc
  .array(provider, { minLength: 2, maxLength: 7, size: 'max' })
  .map(list => {
    const out: (ProviderSnapshot & { depth: number })[] = []
    list.forEach((one, i) => {
      const parent = one.parent < 0 ? undefined : out[one.parent]
      const nested = parent !== undefined && parent.depth < 3
      const id = asId<ProviderSnapshot['id']>(((i * 5 + 3) % 7) + 1)
      out.push({
        id,
        uuid: uuid('b', id),
        name: `p${id}`,
        generation: 0,
        parentId: nested ? parent.id : null,
        rootId: nested ? parent.rootId : id,
        inventories: one.inventories,
        traits: one.shares ? [...one.traits, SHARING] : one.traits,
        aggregates: one.aggregates,
        dedicatedTo: one.dedicatedTo,
        managedBy: one.managedBy,
        depth: nested ? parent.depth + 1 : 1,
      })
    })
    return out.map(({ depth: _depth, ...snapshot }) => snapshot)
  })

const anyOf = (names: string[]) => fc.subarray(names, { minLength: 1, maxLength: 2 })
const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T, weight = 6) =>
  fc.oneof({ weight, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary })

const resources = (least: number) =>
  fc
    .subarray(CLASSES, { minLength: least })
    .chain(names =>
      fc
        .tuple(...names.map(() => fc.constantFrom(1, 1, 1, 1, 1, 2, 3)))
        .map(amounts => names.map((resourceClass, i) => ({ resourceClass, amount: amounts[i]! }))),
    )

function group(suffix: string, ids: number[]): fc.Arbitrary<Group> {
  const open = fc.record({
    suffix: fc.constant(suffix),
    resources:
      suffix === ''
        ? resources(1)
        : fc.oneof(
            { weight: 3, arbitrary: resources(1) },
            { weight: 1, arbitrary: fc.constant<Group['resources']>([]) },
          ),
    required: rarely(fc.array(anyOf(TRAITS), { maxLength: 2 }), [], 3),
    forbidden: rarely(fc.subarray(TRAITS, { maxLength: 1 }), []),
    memberOf: rarely(fc.array(anyOf([...AGGREGATES, uuid('a', 9)]), { maxLength: 2 }), []),
    forbiddenAggregates: rarely(fc.subarray(AGGREGATES, { maxLength: 2 }), [], 12),
    inTree: rarely(fc.constantFrom(...ids.map(id => uuid('b', id)), uuid('b', 99)), null, 15),
  })
  // A group that asks for nothing finds nothing, so most of them get a trait.
  return fc
    .tuple(open, anyOf(TRAITS), chance(3, 1))
    .map(([one, traits, named]) =>
      one.resources.length === 0 && one.required.length === 0 && named ? { ...one, required: [traits] } : one,
    )
}

export function question(ids: number[]): fc.Arbitrary<CandidateRequest> {
  const suffixes = fc.subarray(['1', '2', '_NET'])
  return fc
    .tuple(fc.boolean(), suffixes)
    .filter(([plain, named]) => plain || named.length > 0)
    .chain(([plain, named]) => {
      const all = plain ? ['', ...named] : named
      return fc.record({
        groups: fc
          .tuple(...all.map(suffix => group(suffix, ids)))
          .filter(groups => groups.some(one => one.resources.length > 0)),
        groupPolicy: fc.constantFrom('none' as const, 'isolate' as const),
        limit: fc.option(fc.integer({ min: 1, max: 5 })),
        rootRequired: rarely(fc.subarray(TRAITS, { maxLength: 1 }), [], 8),
        rootForbidden: rarely(fc.subarray(TRAITS, { maxLength: 1 }), [], 8),
        sameSubtree:
          named.length === 0
            ? fc.constant([])
            : rarely(fc.array(fc.subarray(named, { minLength: 1 }), { maxLength: 2 }), [], 1),
        nested: chance(4, 1),
        seed: fc.option(fc.nat(1000), { freq: 3 }),
      })
    })
}

export const worldAndQuestion = world.chain(one => fc.tuple(fc.constant(one), question(one.map(p => p.id))))
