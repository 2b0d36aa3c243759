// What pg takes for a socket: hands what is written to the virtual network, and emits what that delivers.
import { EventEmitter } from 'node:events'

/** The other end. */
export interface Wire {
  open(): void
  send(bytes: Buffer): void
  /** The client has closed it. */
  close(): void
}

export class VirtualSocket extends EventEmitter {
  writable = true
  bytesRead = 0
  #wire!: Wire
  #isClosed = false

  attach(wire: Wire): this {
    this.#wire = wire
    return this
  }

  connect(): this {
    this.#wire.open()
    return this
  }

  write(bytes: Buffer, done?: () => void): boolean {
    this.#wire.send(bytes)
    if (done) process.nextTick(done)
    return true
  }

  end(): this {
    return this.destroy()
  }

  destroy(error?: Error): this {
    if (this.#isClosed) return this
    this.#wire.close()
    this.#shut(error)
    return this
  }

  /** The other end is gone. */
  lost(error?: Error): void {
    if (!this.#isClosed) this.#shut(error)
  }

  deliver(bytes: Buffer): void {
    if (this.#isClosed) return
    this.bytesRead += bytes.length
    this.emit('data', bytes)
  }

  #shut(error: Error | undefined): void {
    this.#isClosed = true
    this.writable = false
    process.nextTick(() => {
      if (error) this.emit('error', error)
      this.emit('close')
    })
  }

  setNoDelay = () => this
  setKeepAlive = () => this
  ref = () => this
  unref = () => this
  cork = () => {}
  uncork = () => {}
}
