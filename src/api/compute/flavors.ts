// /flavors
import type { Static, TSchema } from 'typebox'
import {
  createFlavor,
  deleteFlavor,
  findFlavor,
  type Flavor,
  type FlavorFilter,
  listFlavors,
  lockOwnFlavor,
} from '../../compute/flavors.ts'
import { limits } from '../../shared/limits.ts'
import { flagOf } from '../../metal/nodes/attributes.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, Flag, Links, named, oneOf, Text } from '../shapes.ts'
import { closed, Name, whole } from './bodies.ts'
import { limitOf, linksTo, nextLinks, PAGE } from './links.ts'
import { type Answer, type ComputeRequest, seesFlavorsOf } from './request.ts'
import { Type } from '../../shared/type.ts'
import { expected } from '../../shared/expected.ts'

const refuse = (reason: string) => problem('compute_invalid', { reason })

const summary = (request: ComputeRequest, { id, name }: Flavor) => ({
  id,
  name,
  links: linksTo(request, `flavors/${encodeURIComponent(id)}`),
})

const detail = (request: ComputeRequest, flavor: Flavor) => ({
  ...summary(request, flavor),
  vcpus: flavor.vcpus,
  ram: flavor.ram_mb,
  disk: flavor.disk_gb,
  // No swap is shown as an empty text, as upstream.
  swap: flavor.swap_mb === 0 ? '' : flavor.swap_mb,
  'OS-FLV-EXT-DATA:ephemeral': flavor.ephemeral_gb,
  'OS-FLV-DISABLED:disabled': flavor.disabled === 1,
  'os-flavor-access:is_public': flavor.is_public === 1,
  rxtx_factor: flavor.rxtx_factor,
})

const Summary = { id: Text, name: Text, links: Links }
const Shown = named('Flavor', {
  ...Summary,
  vcpus: Count,
  ram: Count,
  disk: Count,
  swap: Type.Union([Count, Type.Literal('')]),
  'OS-FLV-EXT-DATA:ephemeral': Count,
  'OS-FLV-DISABLED:disabled': Flag,
  'os-flavor-access:is_public': Flag,
  rxtx_factor: Type.Number(),
})
const One = Type.Object({ flavor: Shown })
const listOf = (item: TSchema) => Type.Object({ flavors: Type.Array(item), flavors_links: Type.Optional(Links) })

const PARAMETERS: Form = {
  schema: Type.Object({
    ...PAGE,
    sort_key: Type.Optional(oneOf('flavorid')),
    sort_dir: Type.Optional(oneOf('asc')),
    minRam: Type.Optional(Count),
    minDisk: Type.Optional(Count),
    is_public: Type.Optional(Text),
  }),
}

export const listAllFlavors = (request: ComputeRequest) => list(request, 'flavors', summary)
listAllFlavors.operation = {
  summary: 'List the flavors that the caller may use',
  query: [PARAMETERS],
  answers: { 200: listOf(named('FlavorSummary', Summary)) },
} satisfies Operation
export const listFlavorsInDetail = (request: ComputeRequest) => list(request, 'flavors/detail', detail)
listFlavorsInDetail.operation = {
  summary: 'List the flavors that the caller may use with all their fields',
  query: [PARAMETERS],
  answers: { 200: listOf(Shown) },
} satisfies Operation

async function list(request: ComputeRequest, path: string, show: typeof summary): Promise<Answer> {
  const { store } = request.context
  const limit = limitOf(request, limits.flavorPageMax)
  const marker = request.parameter('marker')
  requireDefaultOrder(request)
  const filter = filterOf(request)
  const rows = await store.read(function* () {
    if (marker !== null) yield* requireMarker(marker, filter)
    return yield* listFlavors(filter, marker ?? '', limit)
  })
  const links = nextLinks(request, path, { limit, marker: rows.length > limit ? rows[limit - 1]!.id : null })
  const flavors = rows.slice(0, limit).map(flavor => show(request, flavor))
  return { status: 200, body: { flavors, ...(links && { flavors_links: links }) } }
}

function* requireMarker(marker: string, { visibleTo }: FlavorFilter) {
  try {
    yield* findFlavor(marker, visibleTo)
  } catch {
    throw refuse(`marker [${marker}] not found`)
  }
}

function requireDefaultOrder(request: ComputeRequest): void {
  const [key, direction] = [request.parameter('sort_key'), request.parameter('sort_dir')]
  const isDefault = (key === null || key === 'flavorid') && (direction === null || direction === 'asc')
  if (!isDefault)
    throw refuse('Flavors are sorted by flavorid, ascending: sort_key must be flavorid, and sort_dir asc.')
}

/** Public flavors and the project's own, unless an admin asks for others with `is_public`. */
function filterOf(request: ComputeRequest): FlavorFilter {
  const minima = { ramMbMin: numberOf(request, 'minRam'), diskGbMin: numberOf(request, 'minDisk') }
  const given = request.parameter('is_public')
  const own = { visibleTo: request.project, isPublic: null, ...minima }
  if (given === null || !request.may('os_compute_api:flavors:list_all')) return own
  if (given.toLowerCase() === 'none') return { ...own, visibleTo: null }
  const isPublic = flagOf(given)
  if (isPublic === null) throw refuse(`Invalid is_public filter [${given.slice(0, 100)}]: expected true, false or none`)
  return isPublic ? own : { ...own, visibleTo: null, isPublic: false }
}

function numberOf(request: ComputeRequest, name: string): number {
  const given = request.parameter(name)
  if (given === null) return 0
  if (!/^\d{1,10}$/.test(given))
    throw refuse(`Invalid ${name} filter [${given.slice(0, 100)}]: expected a whole number`)
  return Number(given)
}

showFlavor.operation = { summary: 'Show a flavor', answers: { 200: One } } satisfies Operation

export async function showFlavor(request: ComputeRequest): Promise<Answer> {
  const flavor = await request.context.store.read(() => findFlavor(request.param('id'), seesFlavorsOf(request)))
  return { status: 200, body: { flavor: detail(request, flavor) } }
}

const FlavorBody = Type.Object(
  {
    flavor: Type.Object(
      {
        id: Type.Optional(
          Type.Union([
            Type.String({ minLength: 1, maxLength: 255, pattern: '^(?! )[a-zA-Z0-9. _-]+(?<! )$' }),
            Type.Integer({ minimum: 0 }),
            Type.Null(),
          ]),
        ),
        name: Name,
        vcpus: whole(1),
        ram: whole(1),
        disk: whole(0),
        swap: Type.Optional(Type.Union([whole(0), Type.Literal('')])),
        'OS-FLV-EXT-DATA:ephemeral': Type.Optional(whole(0)),
        rxtx_factor: Type.Optional(Type.Union([Type.Number(), Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,9})?$' })])),
        'os-flavor-access:is_public': Type.Optional(Type.Union([Type.Boolean(), Type.String()])),
      },
      closed,
    ),
  },
  closed,
)
const flavorBody = check(FlavorBody)

postFlavor.operation = { summary: 'Make a flavor', body: [flavorBody], answers: { 200: One } } satisfies Operation

export async function postFlavor(request: ComputeRequest): Promise<Answer> {
  const { store, clock } = request.context
  const wanted = newFlavor(request.body(flavorBody).flavor, () => clock.newUuid())
  const flavor = await store.write(() => createFlavor(wanted, request.now))
  return { status: 200, body: { flavor: detail(request, flavor) } }
}

function newFlavor(given: Static<typeof FlavorBody>['flavor'], newUuid: () => string) {
  const { id, name, swap = 0, rxtx_factor = 1 } = given
  const isPublic = flagOf(given['os-flavor-access:is_public'] ?? true)
  if (isPublic === null)
    throw refuse(expected('true or false', 'os-flavor-access:is_public', given['os-flavor-access:is_public']))
  const factor = Number(rxtx_factor)
  if (!(factor > 0 && factor <= limits.flavorNumberMax))
    throw refuse(expected(`a number above 0, and at most ${limits.flavorNumberMax}`, 'rxtx_factor', given.rxtx_factor))
  const flavor = {
    id: id === undefined || id === null || id === 'auto' ? newUuid() : String(id),
    name,
    vcpus: Number(given.vcpus),
    ram_mb: Number(given.ram),
    disk_gb: Number(given.disk),
    swap_mb: Number(swap),
    ephemeral_gb: Number(given['OS-FLV-EXT-DATA:ephemeral'] ?? 0),
    rxtx_factor: factor,
    is_public: isPublic,
  }
  const { vcpus, ram_mb, disk_gb, swap_mb, ephemeral_gb } = flavor
  // The schema doesn't check the range of numbers that come as text.
  const isFair = [vcpus, ram_mb, disk_gb, swap_mb, ephemeral_gb].every(number => number <= limits.flavorNumberMax)
  if (!isFair || vcpus < 1 || ram_mb < 1) throw refuse('The numbers of a flavor must be from 1 to 2147483647.')
  return flavor
}

deleteOneFlavor.operation = { summary: 'Delete a flavor', answers: { 202: null } } satisfies Operation

export async function deleteOneFlavor(request: ComputeRequest): Promise<Answer> {
  const id = request.param('id')
  await request.context.store.write(function* () {
    yield* lockOwnFlavor(id)
    yield* deleteFlavor(id)
  })
  return { status: 202 }
}
