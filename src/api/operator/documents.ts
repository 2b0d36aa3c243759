// GET /holdfast/v1/openapi: the APIs as OpenAPI documents. They hold nothing that isn't in the docs, so everyone may read them.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../process/context.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { Document, named, Text } from '../shapes.ts'
import { PREFIX } from './prefix.ts'

// Not at once: the documents are about the table that these handlers are in.
const all = () => import('../documents.ts')

listDocuments.operation = {
  summary: 'List the OpenAPI documents, one for each API',
  answers: {
    200: Type.Object({
      documents: Type.Array(named('DocumentLink', { api: Text, title: Text, version: Text, href: Text })),
    }),
  },
} satisfies Operation

export async function listDocuments(_: Context, { protocol, host }: FastifyRequest): Promise<object> {
  const { APIS } = await all()
  const documents = Object.entries(APIS).map(([api, { title, version }]) => ({
    api,
    title,
    version,
    href: `${protocol}://${host}${PREFIX}/openapi/${api}`,
  }))
  return { documents }
}

showDocument.operation = {
  summary: 'Show the OpenAPI document of an API',
  answers: { 200: Document },
} satisfies Operation

export async function showDocument(_: Context, { params }: FastifyRequest): Promise<Buffer> {
  const { documentBytes } = await all()
  const bytes = documentBytes((params as { api: string }).api)
  if (!bytes) throw problem('route_not_found', {})
  return bytes
}
