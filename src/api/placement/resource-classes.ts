// /resource_classes
import {
  createClass,
  deleteClass,
  ensureClass,
  findClass,
  listClasses,
  renameResourceClass,
  type ResourceClass,
} from '../../ledger/resource-classes.ts'
import { problem } from '../../problems/problem.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Links, named as shape, Text } from '../shapes.ts'
import { newest } from './modified.ts'
import { requireJsonBody } from './media-types.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const named = check(
  Type.Object(
    { name: Type.String({ pattern: '^CUSTOM_[A-Z0-9_]+$', maxLength: 255 }) },
    { additionalProperties: false },
  ),
)

const pathOf = (name: string) => `/resource_classes/${name}`
const show = ({ name }: Pick<ResourceClass, 'name'>) => ({
  name,
  links: [{ rel: 'self', href: PREFIXES.placement + pathOf(name) }],
})

const Shown = shape('ResourceClass', { name: Text, links: Links })

listResourceClasses.operation = {
  summary: 'List the resource classes',
  answers: { 200: Type.Object({ resource_classes: Type.Array(Shown) }) },
} satisfies Operation

export async function listResourceClasses({ context }: PlacementRequest): Promise<Answer> {
  const classes = await context.store.read(listClasses)
  const body = { resource_classes: classes.map(show) }
  return { status: 200, body, modified: newest(classes, context.clock.now()) }
}

createResourceClass.operation = {
  summary: 'Make a custom resource class',
  body: [named],
  answers: { 201: null },
} satisfies Operation

export async function createResourceClass(request: PlacementRequest): Promise<Answer> {
  const { context } = request
  const { name } = request.body(named)
  await context.store.write(() => createClass(name, context.clock.now()))
  return { status: 201, location: pathOf(name) }
}

showResourceClass.operation = { summary: 'Show a resource class', answers: { 200: Shown } } satisfies Operation

export async function showResourceClass(request: PlacementRequest): Promise<Answer> {
  const found = await request.context.store.read(() => findClass(request.param('name')))
  return { status: 200, body: show(found), modified: newest([found], 0) }
}

putResourceClass.operation = {
  summary: 'Make sure that a custom resource class is there',
  description: `Before ${since('classPutWithoutBody')} it renames the class to what the body says, and answers 200.`,
  body: [null, named],
  answers: { 200: Shown, 201: null, 204: null },
} satisfies Operation

/** Up to 1.6 it renames; from 1.7 on it makes sure that the class is there. */
export async function putResourceClass(request: PlacementRequest): Promise<Answer> {
  const { context } = request
  const name = request.param('name')
  if (!request.has.classPutWithoutBody) {
    requireJsonBody(request)
    const given = request.body(named)
    await context.store.write(() => renameResourceClass(name, given.name, context.clock.now()))
    return { status: 200, body: show(given) }
  }
  const checked = named({ name })
  if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
  const isNew = await context.store.write(() => ensureClass(name, context.clock.now()))
  return { status: isNew ? 201 : 204, location: pathOf(name) }
}

deleteResourceClass.operation = {
  summary: 'Delete a custom resource class',
  answers: { 204: null },
} satisfies Operation

export async function deleteResourceClass(request: PlacementRequest): Promise<Answer> {
  await request.context.store.write(() => deleteClass(request.param('name')))
  return { status: 204 }
}
