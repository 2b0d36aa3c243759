// Deals the places of a process out to webhooks, in turn: first by owner, then by webhook.
import { limits } from '../shared/limits.ts'
import type { WebhookId } from '../store/schema/ids.ts'

/**
 * Each kind of delivery has places of its own: a receiver that failed last may hold one for 15 s each time, and must not
 * keep out those that answer. Nor does mail wait for receivers.
 */
export type Lane = keyof typeof limits.deliveryLanes

/** Who a place is for. */
export interface Place {
  readonly webhook: WebhookId
  /** Its project; for a webhook of all projects, who made it. */
  readonly owner: string
  readonly lane: Lane
}

export interface Waiting extends Place {
  /** How many of its deliveries are due. */
  readonly due: number
}

/** Whose turn is next: who got a place stands at the end. */
export interface Turns {
  readonly owners: readonly string[]
  readonly webhooks: readonly WebhookId[]
}

export const NO_TURNS: Turns = { owners: [], webhooks: [] }

/**
 * Who gets a place, as often as places, and whose turn is next. Of a lane an owner gets another place only as long as more places stay
 * free there than it has, and so does a webhook of its owner's. So whoever comes finds a free place, though all before
 * take what they can get; and the more there are, the fewer each has.
 */
export function deal<One extends Waiting>(
  waiting: readonly One[],
  underWay: readonly Place[],
  before: Turns,
): { dealt: One[]; turns: Turns } {
  const owners = lined(before.owners, new Set(waiting.map(({ owner }) => owner)))
  const webhooks = lined(before.webhooks, new Set(waiting.map(({ webhook }) => webhook)))
  const left = new Map(waiting.map(one => [one.webhook, { one, due: one.due }]))
  const counts = new Counts(underWay)
  const next = () => {
    const first = new Map<string, One>()
    for (const webhook of webhooks) {
      const { one, due } = left.get(webhook)!
      if (due > 0 && !first.has(one.owner) && counts.hasRoomFor(one)) first.set(one.owner, one)
    }
    for (const owner of owners) if (first.has(owner)) return first.get(owner)!
    return null
  }
  const dealt: One[] = []
  for (let one = next(); one; one = next()) {
    dealt.push(one)
    left.get(one.webhook)!.due--
    counts.add(one)
    toEnd(owners, one.owner)
    toEnd(webhooks, one.webhook)
  }
  return { dealt, turns: { owners: [...owners], webhooks: [...webhooks] } }
}

/** When something is due next for which there is a place; null when nothing is. */
export function nextDue(
  waiting: readonly (Waiting & { readonly nextAt: number })[],
  underWay: readonly Place[],
): number | null {
  const counts = new Counts(underWay)
  const ats = waiting.filter(one => counts.hasRoomFor(one)).map(({ nextAt }) => nextAt)
  return ats.length > 0 ? Math.min(...ats) : null
}

/** Who waits, in the order of before; those who are new come last. */
function lined<T>(before: readonly T[], present: ReadonlySet<T>): Set<T> {
  return new Set([...before.filter(one => present.has(one)), ...present])
}

function toEnd<T>(line: Set<T>, one: T): void {
  line.delete(one)
  line.add(one)
}

/** How many places are taken: of a lane, by an owner and by a webhook there. */
class Counts {
  readonly #taken = new Map<string, number>()

  constructor(underWay: readonly Place[]) {
    for (const place of underWay) this.add(place)
  }

  add(place: Place): void {
    for (const key of keysOf(place)) this.#taken.set(key, this.#of(key) + 1)
  }

  hasRoomFor(place: Place): boolean {
    const { places, ofOwner, ofWebhook } = limits.deliveryLanes[place.lane]
    const [inLane, byOwner, byWebhook] = keysOf(place).map(key => this.#of(key)) as [number, number, number]
    return byWebhook < Math.min(ofWebhook, ofOwner - byOwner) && byOwner < Math.min(ofOwner, places - inLane)
  }

  #of(key: string): number {
    return this.#taken.get(key) ?? 0
  }
}

const keysOf = ({ webhook, owner, lane }: Place) => [lane, `${lane} ${owner}`, `${lane} #${webhook}`]
