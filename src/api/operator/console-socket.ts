// One viewer of a console, at the other end of a web socket.
import type { RawData, WebSocket } from 'ws'
import { countdown } from '../../clock/countdown.ts'
import type { Seat } from '../../metal/consoles/consoles.ts'
import type { Viewer } from '../../metal/consoles/session.ts'
import { limits } from '../../shared/limits.ts'

/** Codes of the protocol: the client may come back, or may not. */
const [COME_BACK, REFUSED] = [1013, 1008]
/** A frame that ends a socket has no room for more. */
const REASON_BYTES_MAX = 123

export class ConsoleSocket implements Viewer {
  readonly #socket: WebSocket
  readonly #whyNoLonger: () => Promise<string | null>
  #idle = countdown(limits.consoleIdleMs)
  #hasPong = true

  constructor(socket: WebSocket, whyNoLonger: () => Promise<string | null>) {
    this.#socket = socket
    this.#whyNoLonger = whyNoLonger
    const beating = setInterval(() => this.#beat(), limits.streamBeatMs).unref()
    socket.on('error', () => {})
    socket.on('pong', () => (this.#hasPong = true))
    socket.once('close', () => clearInterval(beating))
    this.#checkLater()
  }

  /** From now on what is typed arrives. */
  sit(seat: Seat): void {
    this.#socket.on('message', (data: RawData) => {
      this.#idle = countdown(limits.consoleIdleMs)
      seat.type(data as Buffer)
    })
    this.#socket.once('close', () => seat.leave())
  }

  show(bytes: Buffer): void {
    this.#idle = countdown(limits.consoleIdleMs)
    this.#send(bytes)
  }

  tell(words: string): void {
    this.#send(words)
  }

  end(words: string, code: number = COME_BACK): void {
    this.#socket.close(code, Buffer.from(words).subarray(0, REASON_BYTES_MAX))
  }

  #send(piece: Buffer | string): void {
    const { bufferedAmount, readyState, OPEN } = this.#socket
    if (bufferedAmount > limits.consoleBehindBytesMax) this.end('this viewer is too slow; come back')
    else if (readyState === OPEN) this.#socket.send(piece)
  }

  #checkLater(): void {
    setTimeout(() => void this.#check(), limits.consoleCheckMs).unref()
  }

  /** One check after the other, however long each takes. */
  async #check(): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    const reason = await this.#whyNoLonger()
    if (reason !== null) this.end(reason, REFUSED)
    else if (this.#idle() <= 0) this.end('nothing happened here for a long time')
    else this.#checkLater()
  }

  #beat(): void {
    if (!this.#hasPong) this.#socket.terminate()
    this.#hasPong = false
    this.#socket.ping()
  }
}
