// Asks for machines: one request for each, so that each can be had, kept and given back by itself.
import { ifThere } from '../../../src/client/asking.ts'
import { isHoldfastError } from '../../../src/client/errors.ts'
import type { NewAllocation } from '../../../src/client/allocations.ts'
import { words } from '../words.ts'
import { serverNow } from './clock.ts'
import { namesOf, requestOf, type Wanted } from './get-rules.ts'
import { server } from './session.ts'
import { newUuid } from './uuid.ts'

/** The uuids of the requests for one wish: asking for it again asks for the same ones. */
export function uuidsForWish(): (place: number) => string {
  const uuids: string[] = []
  return place => (uuids[place] ??= newUuid())
}

/**
 * How many were asked for. Throws if the first is refused; what was asked for before a later refusal stays, and counts
 * when the same uuids are asked for again.
 */
export async function getMachines(
  wanted: Wanted,
  start: number | null,
  uuidAt: (place: number) => string,
): Promise<number> {
  const request = requestOf(wanted, serverNow(), start)
  let made = 0
  for (const [place, name] of namesOf(wanted).entries()) {
    try {
      await create({ ...request, uuid: uuidAt(place), ...(name !== undefined && { name }) })
      made++
    } catch (error) {
      if (made === 0) throw error
      throw new Error(words.get.onlySome(made, wanted.count, error instanceof Error ? error.message : String(error)), {
        cause: error,
      })
    }
  }
  return made
}

/** The uuid is ours, so that one whose answer got lost is found, and isn't made twice. */
async function create(request: NewAllocation & { uuid: string }): Promise<void> {
  const { allocations } = server()
  try {
    await allocations.create(request)
  } catch (error) {
    const isUnclear = !isHoldfastError(error, 'invalid', 'forbidden', 'unauthorized')
    const made = isUnclear ? await ifThere(allocations.show(request.uuid)).catch(() => null) : null
    if (made === null) throw error
  }
}
