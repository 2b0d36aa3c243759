// What can be done about the queue, and what it says beyond the live status: reasons, priorities, leases ahead.
import type { AllocationExplained, NewAllocation } from '../../../src/client/allocations.ts'
import type { Lease } from '../../../src/client/leases.ts'
import type { ProjectShare } from '../../../src/client/queue.ts'
import { ApiError } from '../../../src/client/errors.ts'
import { words } from '../words.ts'
import { serverNow } from './clock.ts'
import { carryOut } from './doing.ts'
import { type Change, nextName, requestLike, startOf } from './requests.ts'
import { server } from './session.ts'

export const explained = (uuid: string): Promise<AllocationExplained> => server().allocations.explain(uuid)

export interface Standings {
  order: 'fifo' | 'fair'
  projects: ProjectShare[]
}

export async function standings(): Promise<Standings> {
  const { order, projects } = await server().queue.standings()
  return { order: order ?? 'fifo', projects }
}

/** The id of a project that has nothing in the standings yet. */
export const projectId = (name: string): Promise<string> => server().names.resolve('project', name)

/** What is promised and has not begun, the next first. */
export async function leasesAhead(): Promise<Lease[]> {
  const all = await server().leases.list()
  return all.filter(lease => startOf(lease) > serverNow()).toSorted((a, b) => startOf(a) - startOf(b))
}

/** As many names are tried before it is refused. */
const NAMES_MAX = 5

/** Asks for a machine as another request did, with something changed. */
export async function askAgain(like: AllocationExplained, change: Change): Promise<boolean> {
  const wanted = requestLike(like, change)
  let made: string | null = null
  return carryOut({
    said: words.queue.asked(wanted.name ?? wanted.resource_class ?? ''),
    act: async () => {
      made = (await created(wanted)).uuid
    },
    undo: async holdfast => {
      if (made !== null) await holdfast.allocations.delete(made)
    },
  })
}

/** Names belong to one request each: the next one that is free is taken. */
async function created(wanted: NewAllocation, tries = 1): Promise<{ uuid: string }> {
  try {
    return await server().allocations.create(wanted)
  } catch (error) {
    const isTaken = error instanceof ApiError && error.status === 409 && error.message.includes('with name')
    if (!isTaken || wanted.name === undefined || tries >= NAMES_MAX) throw error
    return created({ ...wanted, name: nextName(wanted.name) }, tries + 1)
  }
}
