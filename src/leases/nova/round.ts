// One round of work on a reservation: does what can be done now, and says whether something is left to wait for.
import { limits } from '../../shared/limits.ts'
import { bringFlavor, closeFlavor, type Round } from './flavors.ts'
import { clearFlavor, clearHolders } from './servers.ts'
import type { Wish } from './wish.ts'

/** `isOver`: nothing of the reservation is in Nova, or should be. */
type Result = { kind: 'done'; isOver: boolean } | Waiting

interface Waiting {
  kind: 'waiting'
  /** What is wrong. */
  said: readonly string[]
  /** No claims are left: the lease can end. */
  isClear: boolean
}

export async function bringAbout(round: Round, wish: Wish): Promise<Result> {
  switch (wish.kind) {
    case 'there': {
      for (const flavor of wish.flavors) await bringFlavor(round, flavor)
      return (await removeFlavors(round, wish.surplus)) ?? { kind: 'done', isOver: false }
    }
    case 'ending': {
      for (const id of wish.flavors) await closeFlavor(round, id)
      const said = await clearHolders(round, wish.holders)
      const claiming = new Set(wish.holders.map(({ consumer }) => consumer))
      for (const id of wish.flavors) said.push(...(await clearFlavor(round, id, claiming)).said)
      // The end of the lease takes the flavor out of our tables when the claims are gone.
      return { kind: 'waiting', said, isClear: wish.holders.length === 0 }
    }
    default:
      return (await removeFlavors(round, wish.surplus)) ?? { kind: 'done', isOver: true }
  }
}

/** Removes flavors with what still has them; null when all are gone. */
async function removeFlavors(round: Round, ids: readonly string[]): Promise<Result | null> {
  const said: string[] = []
  let left = 0
  for (const id of ids) {
    if (!(await closeFlavor(round, id))) continue
    // Once the flavor is gone, Nova doesn't find its servers by it any more.
    const cleared = await clearFlavor(round, id, new Set())
    said.push(...cleared.said)
    left += cleared.left
    if (cleared.left > 0) continue
    await round.hold()
    await round.nova.deleteFlavor(id)
  }
  return left > 0 ? { kind: 'waiting', said, isClear: false } : null
}

/** When to look again, after so many rounds of waiting. */
export const waitMs = (attempts: number): number =>
  Math.min(limits.novaWaitMs * 2 ** Math.min(attempts, 10), limits.novaWaitMsMax)
