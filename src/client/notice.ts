// How whoever keeps a node hears that someone ends its allocation.
import type { Ending } from './allocations.ts'
import { ApiError } from './errors.ts'
import type { Holdfast } from './index.ts'
import { sleep } from './timers.ts'

/** Between looks, while the server can't be heard. */
const PAUSE_MS = 1_000

/** Who ends the allocation; null as long as nobody does. */
export const endingOf = async ({ allocations }: Holdfast, uuid: string): Promise<Ending | null> =>
  (await allocations.show(uuid, ['ending'])).ending

/** Resolves when someone ends the allocation, or when it is gone. Never after `signal`. */
export async function ended(server: () => Holdfast, uuid: string, signal: AbortSignal): Promise<Ending | 'gone'> {
  while (!signal.aborted) {
    // First the place in the log, then a look: so what happens in between is heard.
    const after = await server()
      .cursor()
      .catch(() => undefined)
    try {
      const ending = await endingOf(server(), uuid)
      if (ending !== null) return ending
    } catch (error) {
      // Of everything else the renewal hears as well, and it knows how much time is left.
      if (error instanceof ApiError && error.status === 404) return 'gone'
    }
    await (after === undefined ? sleep(PAUSE_MS, signal) : heard(server(), uuid, after, signal)).catch(() =>
      sleep(PAUSE_MS, signal).catch(() => {}),
    )
  }
  return new Promise(() => {})
}

const heard = (server: Holdfast, uuid: string, after: string, signal: AbortSignal) =>
  server.wait({ object: `allocation/${uuid}`, became: ['ending', 'ended'], after, signal })
