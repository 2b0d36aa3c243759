// The bare HTTP limit: a fastify server that only answers as many bytes as the path says.
import Fastify from 'fastify'

const bodies = new Map<string, Buffer>()
const app = Fastify()
app.get<{ Params: { size: string } }>('/bytes/:size', (request, reply) => {
  const { size } = request.params
  const body = bodies.get(size) ?? Buffer.alloc(Number(size), '0')
  bodies.set(size, body)
  void reply.header('content-type', 'application/json').send(body)
})
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
