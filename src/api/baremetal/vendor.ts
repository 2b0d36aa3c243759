// /v1/nodes/X/vendor_passthru and /v1/drivers/X/vendor_passthru: what only one driver can do.
import type { Driver } from '../../metal/drivers/port.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { driverOf } from '../../metal/nodes/transitions.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { byName, Document, Flag, named, Text } from '../shapes.ts'
import { askMachine } from './asking.ts'
import { findDriver } from './drivers.ts'
import { nodeIdent } from './nodes.ts'
import { type Answer, type MetalRequest, parametersOf } from './request.ts'
import { Type } from '../../shared/type.ts'

const Methods = byName(
  named('VendorMethod', {
    http_methods: Type.Array(Text),
    description: Text,
    async: Flag,
    attach: Flag,
    require_exclusive_lock: Flag,
  }),
)

const shownMethods = ({ vendorMethods = {} }: Driver): object =>
  Object.fromEntries(
    Object.entries(vendorMethods).map(([name, { http, description }]) => [
      name,
      { http_methods: http, description, async: false, attach: false, require_exclusive_lock: true },
    ]),
  )

const driverOfNode = async (request: MetalRequest): Promise<Driver> => {
  const { store, drivers } = request.context
  return driverOf(await store.read(() => findNode(nodeIdent(request), request.access())), drivers)
}

listVendorMethods.operation = {
  summary: 'List what only the driver of this node can do',
  answers: { 200: Methods },
} satisfies Operation

export async function listVendorMethods(request: MetalRequest): Promise<Answer> {
  return { status: 200, body: shownMethods(await driverOfNode(request)) }
}

const METHOD = parametersOf({ method: Text })
const DATA: Form = { schema: Type.Object({}, { title: 'VendorData', additionalProperties: true }) }

const called = {
  summary: 'Have the driver of a node do what only it can do',
  body: [DATA],
  bodyIsOptional: true,
  answers: { 200: Document },
} satisfies Operation

function callOf(nameOf: (request: MetalRequest) => string | undefined, more: Partial<Operation>, hasBody: boolean) {
  const handle = async (request: MetalRequest): Promise<Answer> => {
    const method = nameOf(request)
    const { http: known, driver } = await methodOf(request, method)
    const http = request.raw.method
    if (known && !(known as readonly string[]).includes(http)) {
      throw refuse(`The method ${method} of driver ${driver} takes ${known.join(', ')}, not ${http}.`)
    }
    const data = hasBody && request.hasBody ? request.object(DATA) : {}
    return { status: 200, body: await askMachine(request, { name: 'vendor', args: { method: method!, http, data } }) }
  }
  const { body: _, bodyIsOptional: __, ...bare } = called
  handle.operation = { ...(hasBody ? called : bare), ...more }
  return handle
}

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const namesOf = (methods: object) => Object.keys(methods).join(', ') || 'none'

async function methodOf(request: MetalRequest, method: string | undefined) {
  // Who may not do it is told that first.
  const driver = await driverOfNode(request)
  const { vendorMethods = {}, name } = driver
  if (!method) throw refuse(`Missing mandatory parameter method: the driver has ${namesOf(vendorMethods)}.`)
  const found = Object.hasOwn(vendorMethods, method) ? vendorMethods[method] : undefined
  if (!found && (driver.vendorMethods || !driver.ask)) {
    throw refuse(
      `Driver ${name} does not support the method ${method.slice(0, 100)}: it has ${namesOf(vendorMethods)}.`,
    )
  }
  return { http: found?.http, driver: name }
}

const inQuery = (request: MetalRequest) => request.parameters(METHOD).get('method')
const inPath = (request: MetalRequest) => request.param('method')

export const vendorByQuery = callOf(inQuery, { id: 'callVendor', query: [METHOD] }, true)
export const readVendorByQuery = callOf(inQuery, { id: 'readVendor', query: [METHOD] }, false)
export const vendorByPath = callOf(inPath, { id: 'callVendorMethod' }, true)
export const readVendorByPath = callOf(inPath, { id: 'readVendorMethod' }, false)

listDriverVendorMethods.operation = {
  summary: 'List what a driver can do that is not about one node',
  answers: { 200: Methods },
} satisfies Operation

/** No driver of ours has such methods. */
export async function listDriverVendorMethods(request: MetalRequest): Promise<Answer> {
  await findDriver(request)
  return { status: 200, body: {} }
}

const refused = {
  summary: 'Have a driver do what is not about one node; none of the drivers can',
  answers: { 200: Document },
} satisfies Operation

callDriver.operation = { ...refused, query: [METHOD] } satisfies Operation

export async function callDriver(request: MetalRequest): Promise<Answer> {
  const { driver } = await findDriver(request)
  const method = request.parameters(METHOD).get('method') ?? ''
  throw refuse(`Driver ${driver.name} does not support the method ${method.slice(0, 100) || 'without a name'}.`)
}
