// POST /servers
import type { Static, TSchema } from 'typebox'
import { chooseFlavor } from '../../compute/flavors.ts'
import { requireTarget } from '../../compute/hypervisors.ts'
import { CIRROS } from '../../compute/images.ts'
import { launchServers, type ServerRequest } from '../../compute/launch.ts'
import { inReservation, wishOf } from '../../compute/wishes.ts'
import { limits } from '../../shared/limits.ts'
import { flagOf } from '../../metal/nodes/attributes.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { from, Links, oneOf, Text, Uuid } from '../shapes.ts'
import { jsonText } from '../../shared/json.ts'
import { asTexts, closed, Description, Name, requireDescribable, texts, whole } from './bodies.ts'
import { Hints, hintedReservation, requireHosts } from './hints.ts'
import { linksTo } from './links.ts'
import { type Answer, type ComputeRequest, seesFlavorsOf } from './request.ts'
import { ZONE } from './services.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'
import { expected } from '../../shared/expected.ts'

const refuse = (reason: string) => problem('compute_invalid', { reason })

const Anything = Type.Optional(Type.Unknown())
/** From 2.37 on they must be given, although there are none: a client says that it knows. */
const Networks = Type.Union([
  oneOf('none', 'auto'),
  // Not upstream's: scripts with openstacksdk say it so, which worked before there was this version.
  Type.Null(),
  Type.Array(
    Type.Object({ uuid: Type.Optional(Uuid), port: Type.Optional(Uuid), fixed_ip: Type.Optional(Text) }, closed),
    { maxItems: limits.networksPerServerMax },
  ),
])
const NEW_SERVER = {
  name: Name,
  description: Type.Optional(from(since('descriptions'), Description)),
  flavorRef: Type.Union([Type.String({ minLength: 1, maxLength: 1_024 }), Type.Integer({ minimum: 0 })]),
  imageRef: Type.Optional(Type.String({ maxLength: 1_024 })),
  min_count: Type.Optional(whole(1)),
  max_count: Type.Optional(whole(1)),
  return_reservation_id: Type.Optional(Type.Union([Type.Boolean(), Type.String()])),
  metadata: Type.Optional(texts(limits.metadataPerServerMax)),
  key_name: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 255 }), Type.Null()])),
  availability_zone: Type.Optional(Type.Union([Type.String({ maxLength: 1_024 }), Type.Null()])),
  adminPass: Type.Optional(Type.String({ maxLength: 255 })),
  // Accepted and ignored: this service doesn't manage networks, volumes, or what runs inside a server.
  networks: Anything,
  security_groups: Anything,
  user_data: Anything,
  config_drive: Anything,
  personality: Anything,
  block_device_mapping: Anything,
  block_device_mapping_v2: Anything,
  accessIPv4: Anything,
  accessIPv6: Anything,
  'OS-DCF:diskConfig': Anything,
  'os:scheduler_hints': Hints,
}
const NewServer = Type.Object(NEW_SERVER, closed)
const bodyOf = <S extends TSchema>(server: S) =>
  check(Type.Object({ server, 'os:scheduler_hints': Hints, 'OS-SCH-HNT:scheduler_hints': Hints }, closed))
const body = bodyOf(NewServer)
const bodyWithNetworks = bodyOf(Type.Object({ ...NEW_SERVER, networks: Networks }, closed))
type NewServer = Static<typeof NewServer>

const Created = Type.Union(
  [
    Type.Object({
      server: Type.Object({
        id: Text,
        links: Links,
        'OS-DCF:diskConfig': Text,
        security_groups: Type.Array(Type.Object({ name: Text })),
        adminPass: Text,
      }),
    }),
    Type.Object({ reservation_id: Text }),
  ],
  { title: 'CreatedServer' },
)

postServer.operation = {
  summary: 'Make one server, or several of a kind',
  body: [bodyWithNetworks, body],
  answers: { 202: Created },
} satisfies Operation

export async function postServer(request: ComputeRequest): Promise<Answer> {
  const { context } = request
  const given = request.has.networks ? request.body(bodyWithNetworks) : request.body(body)
  const wanted: NewServer = given.server
  requireDescribable(request, wanted)
  const reservation = hintedReservation(
    wanted['os:scheduler_hints'],
    given['os:scheduler_hints'],
    given['OS-SCH-HNT:scheduler_hints'],
  )
  const { min, max } = countsOf(wanted)
  const only = hostOf(wanted, request)
  const image_id = imageOf(wanted)
  const id = flavorIdOf(wanted.flavorRef)
  const returnsReservation = flagOf(wanted.return_reservation_id ?? false)
  if (returnsReservation === null)
    throw refuse(expected('true or false', 'return_reservation_id', wanted.return_reservation_id))
  const { flavor, wish } = await context.store.read(function* () {
    if (only !== null) yield* requireTarget(only)
    const flavor = yield* chooseFlavor(id, seesFlavorsOf(request))
    if (reservation === null) return { flavor, wish: wishOf(flavor) }
    return { flavor, wish: inReservation(wishOf(flavor), yield* requireHosts(reservation, request.project)) }
  })
  // As upstream, whoever lets us choose a network has one, and openstacksdk deletes a server that has none.
  const network = request.has.networks && wanted.networks === 'auto' ? 'auto' : null
  const reservation_id = `r-${context.clock.newUuid().slice(0, 8)}`
  const requests = Array.from({ length: max }, (_, i): ServerRequest => ({
    uuid: context.clock.newUuid(),
    name: max === 1 ? wanted.name : `${wanted.name}-${i + 1}`,
    project_id: request.project,
    user_id: request.user,
    flavor_id: flavor.id,
    image_id,
    key_name: wanted.key_name ?? null,
    description: wanted.description ?? null,
    launch_index: i,
    network,
    metadata: jsonText(asTexts(wanted.metadata ?? {})),
    reservation_id,
    wish,
    only,
    reservation,
  }))
  const placed = await launchServers(context, requests, min, seesFlavorsOf(request))
  context.metrics.launched(placed, max - placed)
  if (returnsReservation) return { status: 202, body: { reservation_id } }
  const { uuid } = requests[0]!
  const server = {
    id: uuid,
    links: linksTo(request, `servers/${uuid}`),
    'OS-DCF:diskConfig': 'MANUAL',
    security_groups: [{ name: 'default' }],
    adminPass: wanted.adminPass ?? context.clock.newUuid().slice(-12),
  }
  return { status: 202, location: `/servers/${uuid}`, body: { server } }
}

function countsOf({ min_count, max_count }: NewServer): { min: number; max: number } {
  const min = Number(min_count ?? 1)
  const max = Number(max_count ?? min)
  if (min < 1 || max < 1) throw refuse('min_count and max_count must be at least 1')
  if (min > max) throw refuse('min_count must be <= max_count')
  if (max > limits.serversPerRequestMax) {
    throw problem('over_limit', {
      reason: `Quota exceeded for instances: Requested ${max}, but at most ${limits.serversPerRequestMax} in one request`,
    })
  }
  return { min, max }
}

/** The host that an admin chose with `nova:HOST`; null leaves the choice to the scheduler. */
function hostOf({ availability_zone }: NewServer, request: ComputeRequest): string | null {
  const [zone, host] = (availability_zone ?? '').split(':')
  if (zone !== '' && zone !== ZONE) throw refuse('The requested availability zone is not available')
  if (host === undefined || host === '') return null
  request.requireAllowed('os_compute_api:servers:create:forced_host')
  return host
}

/** References may come as URLs. */
const lastPart = (reference: string) => reference.split('/').at(-1)!

const flavorIdOf = (reference: string | number) => lastPart(String(reference))

function imageOf({ imageRef = '' }: NewServer): string | null {
  const id = lastPart(imageRef)
  if (id === '') return null
  if (id !== CIRROS.id) throw problem('image_not_found', { image: id })
  return id
}
