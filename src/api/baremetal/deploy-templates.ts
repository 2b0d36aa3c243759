// /v1/deploy_templates
import type { Json } from '../../metal/drivers/port.ts'
import { uuidOr } from '../../metal/nodes/lifecycle.ts'
import { deployStepsIn, STEP_INTERFACES } from '../../metal/nodes/steps.ts'
import { isTraitName } from '../../metal/nodes/trait-names.ts'
import {
  createTemplate,
  deleteTemplate,
  type DeployTemplate,
  findTemplate,
  listTemplates,
  templatesById,
  saveTemplate,
} from '../../metal/templates.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, jsonText, MEMBERS, OBJECTS, StoredJson } from '../../shared/json.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { Count, Document, named, oneOf, orNull, Text, Uuid } from '../shapes.ts'
import * as c from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { NewDeployStep } from './node-bodies.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const Step = named('DeployStep', {
  interface: oneOf(...STEP_INTERFACES),
  step: Type.String({ minLength: 1, maxLength: 255 }),
  args: Document,
  priority: Count,
})
const NEW = c.membersOf(
  'NewDeployTemplate',
  {
    uuid: c.isUuid,
    name: c.is(
      Type.Union(
        [
          Type.String({ pattern: '^CUSTOM_[A-Z0-9_]{1,248}$' }),
          Type.String({ pattern: '^[A-Z0-9]{2,9}_[A-Z0-9_]{1,200}$' }),
        ],
        {
          description: 'A trait: CUSTOM_ followed by A-Z, 0-9 and _, or a name of os-traits.',
        },
      ),
      value => typeof value === 'string' && isTraitName(value),
    ),
    // deployStepsIn says itself what is wrong with a step.
    steps: c.is(
      Type.Array(NewDeployStep, { minItems: 1, maxItems: limits.stepsMax }),
      value => Array.isArray(value) && value.length > 0 && deployStepsIn(value, 'steps').length > 0,
    ),
    extra: c.isDocument,
  },
  { required: ['name', 'steps'] },
)

const templates = c.resourceOf<DeployTemplate>(
  'DeployTemplate',
  {
    name: 'deploy_templates',
    short: ['uuid', 'name', 'links'],
    sortKeys: ['uuid', 'name', 'created_at', 'updated_at'],
  },
  {
    uuid: [Uuid, template => template.uuid],
    name: [Text, template => template.name],
    steps: [Type.Array(Step), template => new StoredJson(template.steps, OBJECTS)],
    extra: [Document, template => new StoredJson(template.extra, MEMBERS)],
    created_at: [Time, template => shownTime(template.created_at)],
    updated_at: [orNull(Time), template => shownTime(template.updated_at)],
    links: [Links, ({ uuid }, { base }) => linksTo(base, `deploy_templates/${uuid}`)],
  },
)

const PARAMETERS = c.listParameters(templates)

listDeployTemplates.operation = {
  summary: 'List the deploy templates',
  query: [PARAMETERS],
  answers: { 200: c.listShape('deploy_templates', c.inPart(templates.shape)) },
} satisfies Operation

export async function listDeployTemplates(request: MetalRequest): Promise<Answer> {
  request.parameters(PARAMETERS)
  const rows = await request.context.store.read(listTemplates)
  return c.shownList(templates, { all: rows, rowsById: templatesById }, request, 'deploy_templates', false)
}

showDeployTemplate.operation = {
  summary: 'Show a deploy template',
  query: [c.FIELDS_PARAMETER],
  answers: { 200: c.inPart(templates.shape) },
} satisfies Operation

export async function showDeployTemplate(request: MetalRequest): Promise<Answer> {
  const template = await request.context.store.read(() => findTemplate(request.param('ident')))
  return { status: 200, body: c.shownOne(templates, template, request) }
}

function columnsOf(given: Json): Pick<DeployTemplate, 'name' | 'steps' | 'extra'> {
  const { name, steps, extra } = given
  if (typeof name !== 'string') throw refuse('A deploy template needs a name: a trait.')
  if (steps === undefined) throw refuse('A deploy template needs steps.')
  const wanted = deployStepsIn(steps, 'steps').map((step): Json => ({ ...step }))
  return { name, steps: jsonText(wanted), extra: c.asJson(extra) }
}

postDeployTemplate.operation = {
  summary: 'Make a deploy template',
  description: 'Its steps are added to the deployment of an instance that asks for the trait of its name.',
  body: [NEW],
  answers: { 201: templates.shape },
} satisfies Operation

export async function postDeployTemplate(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const given = c.membersIn(request, NEW)
  const uuid = uuidOr(given['uuid'], () => context.clock.newUuid())
  const row = { ...columnsOf(given), uuid, created_at: now, updated_at: null }
  const template = await context.store.write(() => createTemplate(row))
  return { status: 201, location: `/deploy_templates/${uuid}`, body: templates.show(template, request) }
}

patchDeployTemplate.operation = {
  summary: 'Change a deploy template',
  body: [c.PATCH],
  answers: { 200: templates.shape },
} satisfies Operation

export async function patchDeployTemplate(request: MetalRequest): Promise<Answer> {
  const patches = c.patchesIn(request, NEW)
  const { context, now } = request
  const after = await context.store.write(function* () {
    const template = yield* findTemplate(request.param('ident'))
    const before = {
      name: template.name,
      steps: jsonIn(template.steps, OBJECTS),
      extra: jsonIn(template.extra, MEMBERS),
    }
    const given = c.patchedMembers(patches, before, NEW)
    return yield* saveTemplate({ ...template, ...columnsOf(given), updated_at: now })
  })
  return { status: 200, body: templates.show(after, request) }
}

deleteDeployTemplate.operation = { summary: 'Delete a deploy template', answers: { 204: null } } satisfies Operation

export async function deleteDeployTemplate(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() => deleteTemplate(request.param('ident')))
  return { status: 204 }
}
