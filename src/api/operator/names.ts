// GET /holdfast/v1/names: what users and projects are called, and who is called so.
import type { Named } from '../../identity/names.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { named, oneOf, Text } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Word = Type.Optional(Type.String({ minLength: 1, maxLength: 255 }))
const parameters = check(
  Type.Object(
    {
      user: Word,
      project: Word,
      gone: Type.Optional(oneOf('true')),
      ids: Type.Optional(Type.String({ minLength: 1, maxLength: 8_192 })),
    },
    { additionalProperties: false },
  ),
)
const Shown = Type.Array(named('Named', { id: Text, name: Text }))

listNames.operation = {
  summary: 'List users and projects with their names: all, those with some ids, or the one with a name or id',
  description: 'With `gone` a name may also be that of one who is there no more, if nobody else has it.',
  query: [parameters],
  answers: { 200: named('Names', { users: Shown, projects: Shown }) },
} satisfies Operation

/** Whoever may not see all sees its own project, and the people in it. */
export async function listNames(request: OperatorRequest): Promise<Answer> {
  const { user, project, gone, ids } = request.checkedQuery(parameters)
  const { context, caller } = request
  const { names } = context
  const seesAll = request.may('holdfast:names:list_all', {})
  const members = caller.project === null || seesAll ? null : names.membersOf(caller.project)
  const sees = {
    user: ({ id }: Named) => seesAll || id === caller.user || (members?.has(id) ?? false),
    project: ({ id }: Named) => seesAll || id === caller.project,
  }
  const called = async (kind: 'user' | 'project', word: string) =>
    withGone(kind, word, (seesAll ? await names.find(kind, word) : names.called(kind, word)).filter(sees[kind]))
  const withGone = (kind: 'user' | 'project', word: string, found: readonly Named[]) =>
    found.length === 0 && gone && seesAll ? names.gone(kind, word) : found
  if (user !== undefined || project !== undefined) {
    return answer(
      user === undefined ? [] : await called('user', user),
      project === undefined ? [] : await called('project', project),
    )
  }
  if (ids === undefined) return answer(names.list('user').filter(sees.user), names.list('project').filter(sees.project))
  const wanted = [...new Set(ids.split(','))]
  if (wanted.length > limits.namesPerRequestMax) {
    throw problem('invalid_query', { reason: `At most ${limits.namesPerRequestMax} ids can be named.` })
  }
  const known = (name: (id: string) => string) =>
    wanted.map(id => ({ id, name: name(id) })).filter(({ id, name: known }) => id !== known)
  return answer(known(id => names.user(id)).filter(sees.user), known(id => names.project(id)).filter(sees.project))
}

const answer = (users: readonly Named[], projects: readonly Named[]): Answer => ({
  status: 200,
  body: { users, projects },
})
