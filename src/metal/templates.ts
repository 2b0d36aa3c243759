// Deploy templates: steps that are added to a deployment when the instance asks for the trait of the template's name.
import type { Selectable } from 'kysely'
import { canonicalUuid } from '../ledger/uuid.ts'
import { problem } from '../problems/problem.ts'
import { jsonIn, OBJECTS } from '../shared/json.ts'
import type { DeployTemplateId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import type { Sized } from '../store/sized.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'
import type { WantedStep } from './drivers/port.ts'

export type DeployTemplate = Selectable<Schema['deploy_templates']>

const byUuid = query((db, a: { uuid: string }) =>
  db.selectFrom('deploy_templates').selectAll().where('uuid', '=', a.uuid),
)
const byName = query((db, a: { name: string }) =>
  db.selectFrom('deploy_templates').selectAll().where('name', '=', a.name),
)
const named = query((db, a: { names: readonly string[] }, on) =>
  db.selectFrom('deploy_templates').selectAll().where(on.isIn('name', a.names)).orderBy('name'),
)
/** Templates without their documents, for lists. */
type ListedTemplate = Omit<DeployTemplate, 'steps' | 'extra'> & Sized<DeployTemplateId>
const every = query((db, _: object, on) =>
  db
    .selectFrom('deploy_templates')
    .select(['id', 'uuid', 'name', 'created_at', 'updated_at', on.bytes('steps', 'extra').as('bytes')])
    .orderBy('id'),
)
export const templatesById = query((db, a: { ids: readonly DeployTemplateId[] }, on) =>
  db
    .selectFrom('deploy_templates')
    .selectAll()
    .where(on.isIn('id', a.ids, 'bigint')),
)
const insert = command((db, a: Omit<DeployTemplate, 'id'>) =>
  db.insertInto('deploy_templates').values({
    uuid: a.uuid,
    name: a.name,
    steps: a.steps,
    extra: a.extra,
    created_at: a.created_at,
    updated_at: a.updated_at,
  }),
)
const update = command((db, a: DeployTemplate) =>
  db
    .updateTable('deploy_templates')
    .set({ name: a.name, steps: a.steps, extra: a.extra, updated_at: a.updated_at })
    .where('id', '=', a.id),
)
const remove = command((db, a: { id: DeployTemplateId }) => db.deleteFrom('deploy_templates').where('id', '=', a.id))

export function* findTemplate(ident: string): Read<DeployTemplate> {
  const uuid = canonicalUuid(ident)
  const found = yield* one(uuid ? byUuid({ uuid }) : byName({ name: ident }))
  if (!found) throw problem('metal_not_found', { what: 'Deploy template', name: ident.slice(0, 300) })
  return found
}

export function* listTemplates(): Read<ListedTemplate[]> {
  return yield* all(every({}))
}

/** The steps of the templates with these names, in the order of the names. */
export function* stepsOfTemplates(names: readonly string[]): Read<WantedStep[]> {
  if (names.length === 0) return []
  return (yield* all(named({ names }))).flatMap(({ steps }) => jsonIn(steps, OBJECTS) as unknown as WantedStep[])
}

export function* createTemplate(template: Omit<DeployTemplate, 'id'>): Write<DeployTemplate> {
  yield* requireFree(template)
  yield* run(insert(template))
  yield* mark({ kind: 'deploy_template', id: template.uuid })
  return yield* findTemplate(template.uuid)
}

export function* saveTemplate(template: DeployTemplate): Write<DeployTemplate> {
  yield* requireFree(template)
  yield* run(update(template))
  yield* mark({ kind: 'deploy_template', id: template.uuid })
  return yield* findTemplate(template.uuid)
}

export function* deleteTemplate(ident: string): Write<void> {
  const { id, uuid } = yield* findTemplate(ident)
  yield* run(remove({ id }))
  yield* mark({ kind: 'deploy_template', id: uuid })
}

function* requireFree({ id, uuid, name }: Omit<DeployTemplate, 'id'> & { id?: DeployTemplateId }): Read<void> {
  const twin = yield* one(byUuid({ uuid }))
  if (twin && twin.id !== id) {
    throw problem('metal_exists', { reason: `A deploy template with UUID ${uuid} already exists.` })
  }
  const namesake = yield* one(byName({ name }))
  if (namesake && namesake.id !== id) {
    throw problem('metal_exists', { reason: `A deploy template with name ${name} already exists.` })
  }
}
