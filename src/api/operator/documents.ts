// /holdfast/v1/openapi: the OpenAPI documents. They hold nothing that isn't in the docs, so everyone may read them.
import { problem } from '../../problems/problem.ts'
import { JSON_TYPE } from '../frame/dialect.ts'
import type { Operation } from '../operation.ts'
import { Document, named, Text } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

// Imported on first use, to avoid a cycle: the documents need the route table, which has these handlers.
const all = () => import('../documents.ts')

listDocuments.operation = {
  summary: 'List the OpenAPI documents, one for each API',
  answers: {
    200: Type.Object({
      documents: Type.Array(named('DocumentLink', { api: Text, title: Text, version: Text, href: Text })),
    }),
  },
} satisfies Operation

export async function listDocuments({ base }: OperatorRequest): Promise<Answer> {
  const { APIS } = await all()
  const documents = Object.entries(APIS).map(([api, { title, version }]) => ({
    api,
    title,
    version,
    href: `${base}/openapi/${api}`,
  }))
  return { status: 200, body: { documents } }
}

showDocument.operation = {
  summary: 'Show the OpenAPI document of an API',
  answers: { 200: Document },
} satisfies Operation

export async function showDocument(request: OperatorRequest): Promise<Answer> {
  const { documentBytes } = await all()
  const bytes = documentBytes(request.param('api'))
  if (!bytes) throw problem('route_not_found', {})
  return { status: 200, body: bytes, headers: { 'content-type': JSON_TYPE } }
}
