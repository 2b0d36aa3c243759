// Sends bytes that no HTTP client would send, and reads what comes back.
import { connect } from 'node:net'

export interface RawRequest {
  line: string
  headers: readonly string[]
  body: string
}

const ANSWER_TIMEOUT_MS = 10_000

/** Status and body of the answer; status 0 when the server hung up without one. */
export function rawAnswer(
  origin: string,
  { line, headers, body }: RawRequest,
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve, reject) => {
    let received = ''
    const finish = () => {
      socket.destroy()
      const [head = '', ...rest] = received.split('\r\n\r\n')
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), text: rest.join('\r\n\r\n') })
    }
    const socket = connect(Number(port), hostname, () => {
      const all = [`host: ${hostname}`, 'connection: close', ...headers]
      socket.write(`${line}\r\n${all.join('\r\n')}\r\n\r\n${body}`)
    })
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => reject(new Error(`no answer in time to ${line.slice(0, 100)}`)))
    socket.setEncoding('utf8').on('data', text => (received += text))
    socket.on('close', finish)
    // The server may close while we still write a body that it has refused.
    socket.on('error', finish)
  })
}
