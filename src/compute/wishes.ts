// What a server asks of the ledger: its flavor's size, overridden and extended by the flavor's extra specs.
import { type CandidateRequest, group } from '../ledger/candidates/request.ts'
import { limits } from '../shared/limits.ts'
import type { Wish, WishGroup } from '../store/schema/compute.ts'
import type { Flavor } from './flavors.ts'

export type { Wish } from '../store/schema/compute.ts'

const SPEC = /^(resources|trait)([A-Za-z0-9_-]{1,64})?:(.*)$/
const NAME = /^[A-Z0-9_]{1,255}$/
const RESERVATION_CLASS = /^CUSTOM_RESERVATION_/

/** What is wrong with an extra spec; null for one that is right or that we don't use. */
export function wrongSpec(key: string, value: string): string | null {
  if (key === 'group_policy') return value === 'none' || value === 'isolate' ? null : 'expected none or isolate'
  const [, kind, , name] = SPEC.exec(key) ?? []
  if (kind === undefined) return null
  if (!NAME.test(name!))
    return `${name!.slice(0, 100)} is no name of a ${kind === 'trait' ? 'trait' : 'resource class'}`
  if (kind === 'trait') return value === 'required' || value === 'forbidden' ? null : 'expected required or forbidden'
  return /^\d{1,10}$/.test(value) && Number(value) <= limits.flavorNumberMax ? null : 'expected a whole number'
}

type Sized = Pick<Flavor, 'vcpus' | 'ram_mb' | 'disk_gb' | 'ephemeral_gb' | 'swap_mb' | 'extra_specs'>

export function wishOf(flavor: Sized): Wish {
  const size = {
    VCPU: flavor.vcpus,
    MEMORY_MB: flavor.ram_mb,
    // Swap is in MB; a part of a GB takes a whole one.
    DISK_GB: flavor.disk_gb + flavor.ephemeral_gb + Math.ceil(flavor.swap_mb / 1024),
  }
  const groups = new Map<string, WishGroup>([['', { ...emptyGroup(), resources: size }]])
  for (const [key, value] of Object.entries(flavor.extra_specs)) {
    const [, kind, suffix = '', name] = SPEC.exec(key) ?? []
    if (kind === undefined || wrongSpec(key, value) !== null) continue
    const { resources, required, forbidden } = groups.getOrInsertComputed(suffix, emptyGroup)
    if (kind === 'resources') resources[name!] = Number(value)
    else if (value === 'required') required.push(name!)
    else forbidden.push(name!)
  }
  for (const { resources } of groups.values()) {
    for (const name of Object.keys(resources)) if (resources[name] === 0) delete resources[name]
  }
  const policy = flavor.extra_specs['group_policy']
  const groupPolicy = policy === 'none' || policy === 'isolate' ? policy : null
  return { groups: Object.fromEntries(groups), groupPolicy }
}

const emptyGroup = (): WishGroup => ({ resources: {}, required: [], forbidden: [] })

/** The wish as a candidate request; null when it asks for nothing. */
export function candidateRequestOf(wish: Wish, seed: number): CandidateRequest | null {
  const given = Object.entries(wish.groups).filter(([, { resources }]) => Object.keys(resources).length > 0)
  if (given.length === 0) return null
  // Traits of a group that has no resources are the host's own.
  const bare = Object.values(wish.groups).filter(({ resources }) => Object.keys(resources).length === 0)
  return {
    groups: given.map(([suffix, { resources, required, forbidden }]) =>
      group(suffix, resources, { required: required.map(trait => [trait]), forbidden }),
    ),
    // Two groups without a policy may land on the same provider, as old clients expect.
    groupPolicy: wish.groupPolicy ?? 'none',
    limit: null,
    rootRequired: bare.flatMap(({ required }) => required),
    rootForbidden: bare.flatMap(({ forbidden }) => forbidden),
    sameSubtree: [],
    nested: true,
    seed,
  }
}

/** Whether the wish is for a reservation: hosts enrolled for leases take only such servers. */
export const asksForReservation = (wish: Wish): boolean =>
  Object.values(wish.groups).some(({ resources }) => Object.keys(resources).some(name => RESERVATION_CLASS.test(name)))

/** The same wish in a reservation: one unit of its class, in addition to the server's size. */
export function inReservation(wish: Wish, resourceClass: string): Wish {
  const [plain = emptyGroup()] = [wish.groups['']]
  const group = { ...plain, resources: { ...plain.resources, [resourceClass]: 1 } }
  return { ...wish, groups: { ...wish.groups, '': group }, hinted: resourceClass }
}

/** The wish of a resized server: it stays in its hinted reservation, unless the new flavor has its own. */
export const resizedWish = (before: Wish, after: Wish): Wish =>
  before.hinted === undefined || asksForReservation(after) ? after : inReservation(after, before.hinted)

export const requiredTraits = (wish: Wish): string[] => Object.values(wish.groups).flatMap(({ required }) => required)
