// The consoles that are open in this process, by machine.
import type { Logger } from 'pino'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { Store } from '../../store/store.ts'
import { EVERYTHING } from '../access.ts'
import { HardwareFailure } from '../drivers/port.ts'
import type { Drivers } from '../drivers/registry.ts'
import { findNode, type Node } from '../nodes/rows.ts'
import { machineOf } from '../nodes/validation.ts'
import { ConsoleSession, type Viewer } from './session.ts'

interface ConsolesOptions {
  store: Store
  drivers: Drivers
  log: Logger
}

interface Open {
  session: ConsoleSession
  /** Whose machine it was when somebody last looked. */
  tenure: string
}

/** A place before a console. */
export interface Seat {
  type(bytes: Buffer): void
  leave(): void
}

const tenureOf = ({ instance_uuid, owner, lessee }: Node) => JSON.stringify([instance_uuid, owner, lessee])

export class Consoles {
  readonly #options: ConsolesOptions
  readonly #open = new Map<string, Open>()

  constructor(options: ConsolesOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#open.size
  }

  /** A place before the console of a node, for a caller who may see it. */
  enter(node: Node, viewer: Viewer): Seat {
    this.look(node)
    const before = this.#open.get(node.uuid)
    const { session } = before && !before.session.isOver ? before : this.#start(node, before?.session.over)
    if (session.viewers >= limits.consoleViewersMax) {
      throw problem('unavailable', { reason: `The console has ${limits.consoleViewersMax} viewers already.` })
    }
    return { type: bytes => session.type(bytes), leave: session.enter(viewer) }
  }

  /** Notices that the machine changed hands. */
  look(node: Node): void {
    const open = this.#open.get(node.uuid)
    if (!open || open.tenure === tenureOf(node)) return
    open.tenure = tenureOf(node)
    open.session.forget()
  }

  async stop(): Promise<void> {
    await Promise.allSettled(Array.from(this.#open.values(), ({ session }) => session.stop()))
  }

  /** `before`: the end of an earlier session, which must not end this one. */
  #start(node: Node, before: Promise<void> = Promise.resolve()): Open {
    const { uuid } = node
    const { log } = this.#options
    const open: Open = {
      session: new ConsoleSession({
        open: async (takesOver, signal) => {
          await before
          return this.#lineTo(uuid, takesOver, signal)
        },
        failed: error => log.error({ err: error, node: uuid }, 'a console failed'),
        ended: () => {
          if (this.#open.get(uuid) === open) this.#open.delete(uuid)
        },
      }),
      tenure: tenureOf(node),
    }
    this.#open.set(uuid, open)
    return open
  }

  /** Reads the node each time: its credentials may have been corrected meanwhile. */
  async #lineTo(uuid: string, takesOver: boolean, signal: AbortSignal) {
    const { store, drivers } = this.#options
    const node = await store.read(() => findNode(uuid, EVERYTHING))
    const driver = drivers.get(node.driver)
    if (!driver?.openConsole) throw new HardwareFailure(`Driver ${node.driver} has no serial console.`)
    const lacks = driver.lacks?.() ?? null
    if (lacks !== null) throw new HardwareFailure(`This process can't open the console: ${lacks}`)
    return driver.openConsole(machineOf(node), { takesOver, signal })
  }
}
