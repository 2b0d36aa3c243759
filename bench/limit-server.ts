// The bare HTTP limit: fastify with the same routes and body validation as the allocations API, and no store behind it.
import Fastify from 'fastify'
import { Type as T } from 'typebox'

const Uuid = '^[0-9a-f-]{36}$'
const Consumer = T.Object(
  {
    allocations: T.Record(
      T.String({ pattern: Uuid }),
      T.Object({ resources: T.Record(T.String({ pattern: '^[A-Z0-9_]+$' }), T.Integer({ minimum: 1 })) }),
    ),
    project_id: T.String({ minLength: 1, maxLength: 255 }),
    user_id: T.String({ minLength: 1, maxLength: 255 }),
    consumer_generation: T.Union([T.Integer(), T.Null()]),
    consumer_type: T.String({ pattern: '^[A-Z0-9_]+$' }),
  },
  { additionalProperties: false },
)
const Consumers = T.Record(T.String({ pattern: Uuid }), Consumer)

const app = Fastify()
app.put('/placement/allocations/:consumer', { schema: { body: Consumer } }, async (_request, reply) => {
  await reply.code(204).send()
})
app.post('/placement/allocations', { schema: { body: Consumers } }, async (_request, reply) => {
  await reply.code(204).send()
})
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
