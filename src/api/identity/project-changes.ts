// Makes, changes and deletes projects, in the users file.
import { addProject, changeProject, removeProject } from '../../identity/user-edits.ts'
import { problem } from '../../problems/problem.ts'
import { belongingsOf } from '../../quotas/belongings.ts'
import type { Read } from '../../store/transaction.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Flag, orNull } from '../shapes.ts'
import { make, projectAt, requireName, writerOf } from './changes.ts'
import { ProjectShape, showProjectWithId } from './projects.ts'
import { type Answer, bodyOf, type IdentityRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const DESCRIPTION_MAX = 1_000
const open = { additionalProperties: true }
const Name = Type.String({ minLength: 1, maxLength: 255 })
const more = {
  description: Type.Optional(orNull(Type.String({ maxLength: DESCRIPTION_MAX }))),
  enabled: Type.Optional(Flag),
}
const NEW = check(
  Type.Object({ project: Type.Object({ name: Name, ...more }, { title: 'NewProject', ...open }) }, open),
)
const CHANGE = check(
  Type.Object(
    { project: Type.Object({ name: Type.Optional(Name), ...more }, { title: 'ProjectChange', ...open }) },
    open,
  ),
)

const Shown = Type.Object({ project: ProjectShape })

postProject.operation = { summary: 'Make a project', body: [NEW], answers: { 201: Shown } } satisfies Operation

export async function postProject(request: IdentityRequest): Promise<Answer> {
  writerOf(request)
  const { name, description, enabled = true } = bodyOf(request, NEW).project
  requireName(name)
  const id = request.context.clock.newUuid().replaceAll('-', '')
  const edit = addProject(id, { name, description: description ?? '', enabled })
  await make(request, { edit, about: [{ kind: 'project', id, name }] })
  return { ...showProjectWithId(request, id), status: 201 }
}

patchProject.operation = {
  summary: 'Change a project; with a new name it keeps its id and what it has, and its tokens end',
  body: [CHANGE],
  answers: { 200: Shown },
} satisfies Operation

export async function patchProject(request: IdentityRequest): Promise<Answer> {
  writerOf(request)
  const { id, name: present } = projectAt(request, request.param('id'))
  const { name, description, enabled } = bodyOf(request, CHANGE).project
  if (name !== undefined) requireName(name)
  const change = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description ?? '' }),
    ...(enabled !== undefined && { enabled }),
  }
  await make(request, {
    edit: changeProject(id, change),
    about: [{ kind: 'project', id, name: name ?? present }],
    ...(name !== undefined && { credentials: { project: present, name } }),
  })
  return showProjectWithId(request, id)
}

deleteProject.operation = {
  summary: 'Delete a project that has nothing; the roles of users in it go with it',
  answers: { 204: null },
} satisfies Operation

export async function deleteProject(request: IdentityRequest): Promise<Answer> {
  writerOf(request)
  const { id, name } = projectAt(request, request.param('id'))
  function* check(): Read<void> {
    const has = yield* belongingsOf(id, request.now)
    if (has.length === 0) return
    throw problem('identity_refused', { reason: `Project ${name} still has ${has.join(', ')}. Nothing is deleted.` })
  }
  const about = [{ kind: 'project', id, name }] as const
  await make(request, { edit: removeProject(id), about, check, credentials: { goneProject: name } })
  return { status: 204 }
}
