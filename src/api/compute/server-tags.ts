// /servers/{id}/tags
import { findServer, lockServer, saveServer } from '../../compute/servers.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, jsonText, shownIn, TEXTS } from '../../shared/json.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Text } from '../shapes.ts'
import { closed } from './bodies.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

// Lists are filtered by tags with commas between them, and tags stand in paths.
const TAG = '^[^,/]{1,60}$'
const tagsBody = check(
  Type.Object(
    {
      tags: Type.Array(Type.String({ pattern: TAG }), { maxItems: limits.tagsPerServerMax, uniqueItems: true }),
    },
    closed,
  ),
)
const Shown = Type.Object({ tags: Type.Array(Text) })

listTags.operation = { summary: 'List the tags of a server', answers: { 200: Shown } } satisfies Operation

export async function listTags(request: ComputeRequest): Promise<Answer> {
  return { status: 200, body: { tags: await present(request) } }
}

showTag.operation = { summary: 'Say whether a server has a tag', answers: { 204: null } } satisfies Operation

export async function showTag(request: ComputeRequest): Promise<Answer> {
  if (!(await present(request)).includes(request.param('tag'))) throw notThere(request)
  return { status: 204 }
}

putAllTags.operation = {
  summary: 'Set the tags of a server',
  body: [tagsBody],
  answers: { 200: Shown },
} satisfies Operation

export async function putAllTags(request: ComputeRequest): Promise<Answer> {
  const { tags } = request.body(tagsBody)
  return { status: 200, body: { tags: (await change(request, () => tags)).after } }
}

putTag.operation = {
  summary: 'Give a server a tag; 204 if it has it already',
  answers: { 201: null, 204: null },
} satisfies Operation

export async function putTag(request: ComputeRequest): Promise<Answer> {
  const tag = request.param('tag')
  if (!new RegExp(TAG, 'u').test(tag)) {
    throw problem('compute_invalid', { reason: 'A tag has 1 to 60 characters, and neither a comma nor a slash.' })
  }
  const { before } = await change(request, tags => [...tags, tag])
  if (before.includes(tag)) return { status: 204 }
  return { status: 201, location: `/servers/${request.param('id')}/tags/${encodeURIComponent(tag)}` }
}

deleteAllTags.operation = { summary: 'Take all tags from a server', answers: { 204: null } } satisfies Operation

export async function deleteAllTags(request: ComputeRequest): Promise<Answer> {
  await change(request, () => [])
  return { status: 204 }
}

deleteTag.operation = { summary: 'Take a tag from a server', answers: { 204: null } } satisfies Operation

export async function deleteTag(request: ComputeRequest): Promise<Answer> {
  const tag = request.param('tag')
  await change(request, tags => {
    if (!tags.includes(tag)) throw notThere(request)
    return tags.filter(one => one !== tag)
  })
  return { status: 204 }
}

const notThere = (request: ComputeRequest) =>
  problem('server_tag_not_found', { server: request.param('id'), tag: request.param('tag').slice(0, 100) })

async function present(request: ComputeRequest): Promise<string[]> {
  const { tags } = await request.context.store.read(() => findServer(request.param('id'), request.visible))
  return shownIn(tags, TEXTS)
}

type Tags = readonly string[]

async function change(request: ComputeRequest, edit: (tags: Tags) => Tags): Promise<{ before: Tags; after: Tags }> {
  return request.context.store.write(function* () {
    const server = yield* lockServer(request.param('id'), request.visible)
    const before = jsonIn(server.tags, TEXTS)
    const after = [...new Set(edit(before))].sort()
    if (after.length > limits.tagsPerServerMax) {
      throw problem('compute_invalid', {
        reason: `The number of tags exceeded the per-server limit ${limits.tagsPerServerMax}`,
      })
    }
    yield* saveServer(server, { ...server, tags: jsonText(after), updated_at: request.now })
    return { before, after }
  })
}
