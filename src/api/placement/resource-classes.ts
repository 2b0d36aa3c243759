// /resource_classes
import { Type } from 'typebox'
import {
  createClass,
  deleteClass,
  ensureClass,
  findClass,
  listClasses,
  renameResourceClass,
  type ResourceClass,
} from '../../ledger/resource-classes.ts'
import { problem } from '../../problem.ts'
import { check } from '../schema.ts'
import { newest } from './modified.ts'
import { PREFIX } from './prefix.ts'
import type { Answer, PlacementRequest } from './request.ts'

const named = check(
  Type.Object(
    { name: Type.String({ pattern: '^CUSTOM_[A-Z0-9_]+$', maxLength: 255 }) },
    { additionalProperties: false },
  ),
)

const pathOf = (name: string) => `/resource_classes/${name}`
const show = ({ name }: Pick<ResourceClass, 'name'>) => ({
  name,
  links: [{ rel: 'self', href: PREFIX + pathOf(name) }],
})

export async function listResourceClasses({ context }: PlacementRequest): Promise<Answer> {
  const classes = await context.store.read(listClasses)
  const body = { resource_classes: classes.map(show) }
  return { status: 200, body, modified: newest(classes, context.clock.now()) }
}

export async function createResourceClass(request: PlacementRequest): Promise<Answer> {
  const { context } = request
  const { name } = request.body(named)
  await context.store.write(() => createClass(name, context.clock.now()))
  return { status: 201, location: pathOf(name) }
}

export async function showResourceClass(request: PlacementRequest): Promise<Answer> {
  const found = await request.context.store.read(() => findClass(request.param('name')))
  return { status: 200, body: show(found), modified: newest([found], 0) }
}

/** Up to 1.6 it renames; from 1.7 on it makes sure that the class is there. */
export async function putResourceClass(request: PlacementRequest): Promise<Answer> {
  const { context } = request
  const name = request.param('name')
  if (!request.has.classPutWithoutBody) {
    request.requireJsonBody()
    const given = request.body(named)
    await context.store.write(() => renameResourceClass(name, given.name, context.clock.now()))
    return { status: 200, body: show(given) }
  }
  const checked = named({ name })
  if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
  const isNew = await context.store.write(() => ensureClass(name, context.clock.now()))
  return { status: isNew ? 201 : 204, location: pathOf(name) }
}

export async function deleteResourceClass(request: PlacementRequest): Promise<Answer> {
  await request.context.store.write(() => deleteClass(request.param('name')))
  return { status: 204 }
}
