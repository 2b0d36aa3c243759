// Flavors, their extra specs, and who may see them.
import { randomUUID } from 'node:crypto'
import { type Answer, type Body, noFlavor, type NovaRequest, noPolicy, pageOf, Refusal } from './nova-answers.ts'
import type { Caller } from './nova-holdfast.ts'
import type { Flavor } from './nova-rows.ts'
import type { TestNova } from './nova.ts'

const INTEGER_MAX = 2_147_483_647

/** The flavor, if the caller sees it. */
export function flavorOf(nova: TestNova, id: string, caller: Caller): Flavor {
  const flavor = nova.flavors.get(id)
  if (!flavor || !isSeen(flavor, caller)) throw noFlavor(id)
  return flavor
}

const isSeen = ({ isPublic, access }: Flavor, { isAdmin, project }: Caller) =>
  isAdmin || isPublic || access.has(project)

export function listFlavors(nova: TestNova, request: NovaRequest): Answer {
  const { caller, query, parts } = request
  const wanted = caller.isAdmin ? (query.get('is_public') ?? 'true').toLowerCase() : 'seen'
  const all = [...nova.flavors.values()].filter(flavor => {
    if (wanted === 'none') return true
    if (wanted === 'false' || wanted === '0') return !flavor.isPublic
    return wanted === 'seen' ? isSeen(flavor, caller) : flavor.isPublic
  })
  const { rows, links } = pageOf(all, request, { idOf: ({ id }) => id, pageMax: nova.pageMax, url: nova.origin })
  const flavors = rows.map(row => (parts[0] === 'detail' ? shown(row, request) : { id: row.id, name: row.name }))
  return { status: 200, body: { flavors, ...(links.length > 0 && { flavors_links: links }) } }
}

export function showFlavor(nova: TestNova, request: NovaRequest): Answer {
  return { status: 200, body: { flavor: shown(flavorOf(nova, request.parts[0]!, request.caller), request) } }
}

export function createFlavor(nova: TestNova, request: NovaRequest): Answer {
  needAdmin(request, 'os_compute_api:os-flavor-manage:create')
  const given: Body = request.body?.flavor
  requireFlavor(given)
  const id = given.id ?? randomUUID()
  for (const flavor of nova.flavors.values()) {
    if (flavor.id === id) throw new Refusal(409, `Flavor with ID ${id} already exists.`)
    if (flavor.name === given.name) throw new Refusal(409, `Flavor with name ${given.name} already exists.`)
  }
  const isPublic = given['os-flavor-access:is_public'] ?? true
  const flavor: Flavor = {
    id,
    name: given.name,
    vcpus: Number(given.vcpus),
    ram: Number(given.ram),
    disk: Number(given.disk),
    ephemeral: Number(given['OS-FLV-EXT-DATA:ephemeral'] ?? 0),
    swap: Number(given.swap ?? 0),
    isPublic,
    description: given.description ?? null,
    specs: {},
    access: new Set(),
  }
  nova.flavors.set(id, flavor)
  return { status: 200, body: { flavor: shown(flavor, request) } }
}

function requireFlavor(given: Body): void {
  const invalid = (field: string, value: unknown, why: string) =>
    new Refusal(400, `Invalid input for field/attribute ${field}. Value: ${String(value)}. ${why}`)
  if (typeof given !== 'object' || given === null) throw invalid('flavor', given, `'flavor' is a required property`)
  const isName = (text: unknown) =>
    typeof text === 'string' && text.length >= 1 && text.length <= 255 && text === text.trim()
  if (!isName(given.name)) throw invalid('name', given.name, `${given.name} is not a valid name`)
  if (given.id !== undefined && given.id !== null && !(isName(given.id) && /^[a-zA-Z0-9. _-]+$/.test(given.id))) {
    throw invalid('id', given.id, `${given.id} does not match`)
  }
  for (const [field, least] of [
    ['vcpus', 1],
    ['ram', 1],
    ['disk', 0],
  ] as const) {
    const value = Number(given[field])
    if (!Number.isInteger(value)) throw invalid(field, given[field], `${given[field]} is not an integer`)
    if (value < least) throw invalid(field, value, `${value} is less than the minimum of ${least}`)
    if (value > INTEGER_MAX) throw invalid(field, value, `${value} is greater than the maximum of ${INTEGER_MAX}`)
  }
}

export function deleteFlavor(nova: TestNova, request: NovaRequest): Answer {
  needAdmin(request, 'os_compute_api:os-flavor-manage:delete')
  const [id] = request.parts as [string]
  if (!nova.flavors.delete(id)) throw noFlavor(id)
  return { status: 202 }
}

export function showSpecs(nova: TestNova, request: NovaRequest): Answer {
  return { status: 200, body: { extra_specs: flavorOf(nova, request.parts[0]!, request.caller).specs } }
}

export function addSpecs(nova: TestNova, request: NovaRequest): Answer {
  needAdmin(request, 'os_compute_api:os-flavor-extra-specs:create')
  const { specs } = flavorOf(nova, request.parts[0]!, request.caller)
  const given: Body = request.body?.extra_specs
  if (typeof given !== 'object' || given === null || Object.keys(given).length === 0) {
    throw new Refusal(400, `Invalid input for field/attribute extra_specs. Value: ${given}.`)
  }
  Object.assign(specs, given)
  return { status: 200, body: { extra_specs: given } }
}

export function deleteSpec(nova: TestNova, request: NovaRequest): Answer {
  needAdmin(request, 'os_compute_api:os-flavor-extra-specs:delete')
  const [id, key] = request.parts as [string, string]
  const { specs } = flavorOf(nova, id, request.caller)
  if (!(key in specs)) throw new Refusal(404, `Flavor ${id} has no extra specs with key ${key}.`)
  delete specs[key]
  return { status: 200 }
}

export function showAccess(nova: TestNova, request: NovaRequest): Answer {
  needAdmin(request, 'os_compute_api:os-flavor-access')
  const flavor = flavorOf(nova, request.parts[0]!, request.caller)
  if (flavor.isPublic) throw new Refusal(404, 'Access list not available for public flavors.')
  return { status: 200, body: accessOf(flavor) }
}

export async function changeAccess(nova: TestNova, request: NovaRequest): Promise<Answer> {
  const [id] = request.parts as [string]
  const [[verb, given] = []] = Object.entries((request.body ?? {}) as Record<string, Body>)
  if (verb !== 'addTenantAccess' && verb !== 'removeTenantAccess') {
    throw new Refusal(400, `There is no such action: ${verb}`)
  }
  needAdmin(request, `os_compute_api:os-flavor-access:${verb === 'addTenantAccess' ? 'add' : 'remove'}_tenant_access`)
  const project = given?.tenant
  if (typeof project !== 'string' || project === '') throw new Refusal(400, `Invalid input for field/attribute tenant.`)
  if (verb === 'addTenantAccess' && !(await nova.holdfast.hasProject(project))) {
    throw new Refusal(400, `Project ID ${project} is not a valid project.`)
  }
  const flavor = flavorOf(nova, id, request.caller)
  if (verb === 'addTenantAccess') {
    if (flavor.isPublic) throw new Refusal(409, 'Can not add access to a public flavor.')
    if (flavor.access.has(project)) {
      throw new Refusal(409, `Flavor access already exists for flavor ${id} and project ${project} combination.`)
    }
    flavor.access.add(project)
  } else if (!flavor.access.delete(project)) {
    throw new Refusal(404, `Flavor access not found for ${id} / ${project} combination.`)
  }
  return { status: 200, body: accessOf(flavor) }
}

const accessOf = ({ id, access }: Flavor) => ({
  flavor_access: [...access].map(tenant_id => ({ flavor_id: id, tenant_id })),
})

function needAdmin({ caller }: NovaRequest, rule: string): void {
  if (!caller.isAdmin) throw noPolicy(rule)
}

function shown(flavor: Flavor, { version }: NovaRequest): object {
  return {
    id: flavor.id,
    name: flavor.name,
    vcpus: flavor.vcpus,
    ram: flavor.ram,
    disk: flavor.disk,
    swap: flavor.swap > 0 || version >= 75 ? flavor.swap : '',
    rxtx_factor: 1,
    'OS-FLV-EXT-DATA:ephemeral': flavor.ephemeral,
    'OS-FLV-DISABLED:disabled': false,
    'os-flavor-access:is_public': flavor.isPublic,
    links: [],
    ...(version >= 55 && { description: flavor.description }),
    ...(version >= 61 && { extra_specs: flavor.specs }),
  }
}
