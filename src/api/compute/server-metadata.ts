// /servers/{id}/metadata
import { findServer, lockServer, saveServer } from '../../compute/servers.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { byName, Text } from '../shapes.ts'
import { kindsOf } from '../../quotas/texts.ts'
import { withinQuota } from '../../quotas/within.ts'
import type { Write } from '../../store/transaction.ts'
import { jsonIn, jsonText, shownIn, WORDS } from '../../shared/json.ts'
import { asTexts, closed, texts } from './bodies.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

type Metadata = Readonly<Record<string, string>>

const Items = texts(limits.metadataPerServerMax)
const itemsBody = check(Type.Object({ metadata: Items }, closed))
const itemBody = check(Type.Object({ meta: Items }, closed))

const Shown = Type.Object({ metadata: byName(Text) })
const ShownOne = Type.Object({ meta: byName(Text) })

listMetadata.operation = { summary: 'List the metadata of a server', answers: { 200: Shown } } satisfies Operation

export async function listMetadata(request: ComputeRequest): Promise<Answer> {
  return { status: 200, body: { metadata: await present(request) } }
}

showMetadata.operation = {
  summary: 'Show an item of the metadata of a server',
  answers: { 200: ShownOne },
} satisfies Operation

export async function showMetadata(request: ComputeRequest): Promise<Answer> {
  const key = request.param('key')
  const metadata = await present(request)
  if (!Object.hasOwn(metadata, key)) throw problem('metadata_not_found', { key })
  return { status: 200, body: { meta: { [key]: metadata[key] } } }
}

postMetadata.operation = {
  summary: 'Add to the metadata of a server',
  body: [itemsBody],
  answers: { 200: Shown },
} satisfies Operation

export async function postMetadata(request: ComputeRequest): Promise<Answer> {
  const added = asTexts(request.body(itemsBody).metadata)
  return { status: 200, body: { metadata: await change(request, before => ({ ...before, ...added })) } }
}

putAllMetadata.operation = {
  summary: 'Set the metadata of a server',
  body: [itemsBody],
  answers: { 200: Shown },
} satisfies Operation

export async function putAllMetadata(request: ComputeRequest): Promise<Answer> {
  const given = asTexts(request.body(itemsBody).metadata)
  return { status: 200, body: { metadata: await change(request, () => given) } }
}

putMetadata.operation = {
  summary: 'Set an item of the metadata of a server',
  body: [itemBody],
  answers: { 200: ShownOne },
} satisfies Operation

export async function putMetadata(request: ComputeRequest): Promise<Answer> {
  const key = request.param('key')
  const meta = asTexts(request.body(itemBody).meta)
  if (Object.keys(meta).length !== 1 || !Object.hasOwn(meta, key)) {
    throw problem('compute_invalid', { reason: `Request body and URI mismatch: expected an item ${key.slice(0, 100)}` })
  }
  await change(request, before => ({ ...before, ...meta }))
  return { status: 200, body: { meta } }
}

deleteMetadata.operation = {
  summary: 'Take an item from the metadata of a server',
  answers: { 204: null },
} satisfies Operation

export async function deleteMetadata(request: ComputeRequest): Promise<Answer> {
  await change(request, before => {
    const { [request.param('key')]: gone, ...rest } = before
    if (gone === undefined) throw problem('metadata_not_found', { key: request.param('key') })
    return rest
  })
  return { status: 204 }
}

async function present(request: ComputeRequest): Promise<Metadata> {
  const { metadata } = await request.context.store.read(() => findServer(request.param('id'), request.visible))
  return shownIn(metadata, WORDS)
}

async function change(request: ComputeRequest, edit: (before: Metadata) => Metadata): Promise<Metadata> {
  return request.context.store.write(function* () {
    const found = yield* findServer(request.param('id'), request.visible)
    const kinds = kindsOf(edit(jsonIn(found.metadata, WORDS)))
    return yield* withinQuota({ project: found.project_id, kinds, now: request.now }, () => save(request, edit))
  })
}

function* save(request: ComputeRequest, edit: (before: Metadata) => Metadata): Write<Metadata> {
  const server = yield* lockServer(request.param('id'), request.visible)
  const after = edit(jsonIn(server.metadata, WORDS))
  if (Object.keys(after).length > limits.metadataPerServerMax) {
    throw problem('over_limit', { reason: `Maximum number of metadata items exceeds ${limits.metadataPerServerMax}` })
  }
  yield* saveServer(server, { ...server, metadata: jsonText(after), updated_at: request.now })
  return after
}
