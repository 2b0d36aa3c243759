// Receives the events of a webhook. Copy it: it needs Node and nothing else.
// WEBHOOK_SECRET is the secret that `holdfast webhook create` printed; PORT is where it listens.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

const key = Buffer.from((process.env['WEBHOOK_SECRET'] ?? '').replace(/^whsec_/, ''), 'base64')
const FIVE_MINUTES_S = 300
/** Messages that were taken, oldest first. A receiver that must not forget them keeps them in its database. */
const taken = new Set<string>()

/** The id of the message if it was signed with our secret, just now; else null. */
function verified(headers: IncomingHttpHeaders, body: Buffer): string | null {
  const [id, at, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name =>
    String(headers[name]),
  )
  if (!(Math.abs(Date.now() / 1_000 - Number(at)) <= FIVE_MINUTES_S)) return null
  const right = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest()
  const isRight = signatures!.split(' ').some(signature => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64')
    return given.length === right.length && timingSafeEqual(given, right)
  })
  return isRight ? id! : null
}

async function take(request: IncomingMessage): Promise<[status: number, text: string]> {
  const body = await buffer(request)
  const id = verified(request.headers, body)
  if (id === null) return [401, 'the signature is wrong, or too old']
  if (taken.has(id)) return [200, 'it was taken before']
  // What must happen once stands here. If it throws, the message comes again.
  const { type, subject, data } = JSON.parse(body.toString()) as Record<string, unknown>
  console.log(type, subject, JSON.stringify(data))
  taken.add(id)
  if (taken.size > 10_000) taken.delete([...taken][0]!)
  return [200, 'taken']
}

const server = createServer((request, response) => {
  const answer = ([status, text]: [number, string]) => response.writeHead(status).end(`${text}\n`)
  void take(request).then(answer, error => answer([500, String(error)]))
})
const port = Number(process.env['PORT'] ?? 8781)
server.listen(port, '127.0.0.1', () =>
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
