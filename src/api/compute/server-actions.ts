// POST /servers/{id}/action: one member names the action and holds what it needs.
import type { TSchema } from 'typebox'
import { chooseFlavor } from '../../compute/flavors.ts'
import type { MoveKind } from '../../compute/move-rows.ts'
import { confirmMove, type MoveRequest, revertMove } from '../../compute/moves.ts'
import { type PowerAction, switchServer } from '../../compute/power.ts'
import { relocate } from '../../compute/relocate.ts'
import { wishOf } from '../../compute/wishes.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { check, type Check } from '../schema.ts'
import { from, Text } from '../shapes.ts'
import { closed } from './bodies.ts'
import type { ComputeAction } from './policy.ts'
import { type Answer, type ComputeRequest, seesFlavorsOf } from './request.ts'
import { deleteOneServer } from './servers.ts'
import { isObject } from '../../shared/is-object.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

interface Action {
  handle: (request: ComputeRequest, given: unknown) => Promise<Answer>
  /** A permission that it needs besides `servers:action`. */
  needs?: ComputeAction
}

const Host = Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 255 }), Type.Null()]))
const Flag = Type.Union([Type.Boolean(), Type.String({ maxLength: 5 })])

const rebootBody = check(
  Type.Object(
    { type: Type.Unsafe<string>({ type: 'string', pattern: '^([Ss][Oo][Ff][Tt]|[Hh][Aa][Rr][Dd])$' }) },
    closed,
  ),
)
const resizeBody = check(
  Type.Object(
    {
      flavorRef: Type.Union([Type.String({ minLength: 1, maxLength: 255 }), Type.Integer()]),
      'OS-DCF:diskConfig': Type.Optional(Type.String()),
    },
    closed,
  ),
)
const migrateBody = check(Type.Union([Type.Null(), Type.Object({ host: Host }, closed)]))
// Whatever `force` says, a target is asked for room: nothing is oversold.
const Force = { force: Type.Optional(from(since('forcedEvacuation'), Flag)) }
const LIVE = { host: Host, block_migration: Type.Optional(Flag) }
const liveBody = {
  first: check(Type.Object({ ...LIVE, disk_over_commit: Type.Optional(Flag) }, closed)),
  deciding: check(Type.Object(LIVE, closed)),
  forced: check(Type.Object({ ...LIVE, ...Force }, closed)),
}
const EVACUATION = { host: Host, adminPass: Type.Optional(Type.String({ maxLength: 255 })) }
const evacuateBody = {
  first: check(Type.Object({ ...EVACUATION, onSharedStorage: Type.Optional(Flag) }, closed)),
  short: check(Type.Object(EVACUATION, closed)),
  forced: check(Type.Object({ ...EVACUATION, ...Force }, closed)),
}
const liveBodyOf = ({ has }: ComputeRequest): Check<{ host?: string | null }> =>
  has.forcedLiveMove ? liveBody.forced : has.liveMoveDecides ? liveBody.deciding : liveBody.first
const evacuateBodyOf = ({ has }: ComputeRequest): Check<{ host?: string | null; adminPass?: string }> =>
  has.forcedEvacuation ? evacuateBody.forced : has.evacuationWithoutPassword ? evacuateBody.short : evacuateBody.first

const ACTIONS: Record<string, Action> = {
  'os-start': { handle: switching('os-start') },
  'os-stop': { handle: switching('os-stop') },
  reboot: {
    handle: (request, given) => {
      checked(rebootBody, given)
      return switching('reboot')(request)
    },
  },
  resize: { handle: resize },
  confirmResize: { handle: confirm },
  revertResize: { handle: revert },
  forceDelete: { handle: deleteOneServer },
  migrate: {
    needs: 'os_compute_api:os-migrate-server:migrate',
    handle: (request, given) => move(request, 'migration', checked(migrateBody, given)?.host ?? null),
  },
  'os-migrateLive': {
    needs: 'os_compute_api:os-migrate-server:migrate_live',
    handle: (request, given) => move(request, 'live-migration', checked(liveBodyOf(request), given).host ?? null),
  },
  evacuate: { needs: 'os_compute_api:os-evacuate', handle: evacuate },
}

/** The value of these actions is ignored. */
const Anything = Type.Unknown()
const action = (name: string, given: TSchema) => Type.Object({ [name]: given }, closed)
const ACTION: Form = {
  schema: Type.Union(
    [
      ...['os-start', 'os-stop', 'confirmResize', 'revertResize', 'forceDelete'].map(name => action(name, Anything)),
      action('reboot', rebootBody.schema),
      action('resize', resizeBody.schema),
      action('migrate', migrateBody.schema),
      ...Object.values(liveBody).map(({ schema }) => action('os-migrateLive', schema)),
      ...Object.values(evacuateBody).map(({ schema }) => action('evacuate', schema)),
    ],
    { title: 'ServerAction' },
  ),
}

const ACTION_NAMES = Object.keys(ACTIONS).join(', ')

postServerAction.operation = {
  summary: 'Start, stop, reboot, resize or move a server',
  description: 'Confirming a resize and deleting answer 204, an evacuation 200, all else 202.',
  body: [ACTION],
  // Up to 2.13 an evacuation answers with the password.
  answers: { 200: Type.Object({ adminPass: Type.Optional(Text) }), 202: null, 204: null },
} satisfies Operation

export async function postServerAction(request: ComputeRequest): Promise<Answer> {
  const body = request.json(ACTION)
  if (!isObject(body) || Object.keys(body).length !== 1) {
    const given = isObject(body) ? Object.keys(body).join(', ').slice(0, 100) : ''
    throw problem('compute_invalid', {
      reason: `The body must hold exactly one action, one of ${ACTION_NAMES}, not ${given || 'none'}.`,
    })
  }
  const [[name, given]] = Object.entries(body) as [[string, unknown]]
  if (!Object.hasOwn(ACTIONS, name)) {
    throw problem('compute_invalid', {
      reason: `There is no such action: ${name.slice(0, 100)}. There are ${ACTION_NAMES}.`,
    })
  }
  const { handle, needs } = ACTIONS[name]!
  if (needs) request.requireAllowed(needs)
  return handle(request, given)
}

function checked<T>(check: Check<T>, given: unknown): T {
  const result = check(given)
  if (!result.ok) throw problem('invalid_body', { reason: result.reason })
  return result.value
}

function switching(action: PowerAction) {
  return async (request: ComputeRequest): Promise<Answer> => {
    const { store } = request.context
    await store.write(() => switchServer(request.param('id'), action, request.visible, request.now))
    return { status: 202 }
  }
}

async function move(
  request: ComputeRequest,
  kind: MoveKind,
  host: string | null,
  resize: MoveRequest['resize'] = null,
): Promise<Answer> {
  const { context, visible: visibleTo } = request
  const wanted = { uuid: context.clock.newUuid(), server: request.param('id'), visibleTo, kind, resize }
  await relocate(context, wanted, host)
  return { status: 202 }
}

async function resize(request: ComputeRequest, given: unknown): Promise<Answer> {
  const id = String(checked(resizeBody, given).flavorRef)
  const flavor = await request.context.store.read(() => chooseFlavor(id, seesFlavorsOf(request)))
  return move(request, 'resize', null, { flavorId: id, wish: wishOf(flavor) })
}

async function evacuate(request: ComputeRequest, given: unknown): Promise<Answer> {
  const { host = null, adminPass } = checked(evacuateBodyOf(request), given)
  await move(request, 'evacuation', host)
  if (request.has.evacuationWithoutPassword) return { status: 200, body: {} }
  return { status: 200, body: { adminPass: adminPass ?? request.context.clock.newUuid().slice(-12) } }
}

async function confirm(request: ComputeRequest): Promise<Answer> {
  await request.context.store.write(() => confirmMove(request.param('id'), request.visible, request.now))
  return { status: 204 }
}

async function revert(request: ComputeRequest): Promise<Answer> {
  await request.context.store.write(() => revertMove(request.param('id'), request.visible, request.now))
  return { status: 202 }
}
