// Decides plain requests on the copy in memory: claims of new consumers that fit as far as memory knows, and releases.
// Memory may be stale. So nothing is refused here, and the database checks all that a plan rests on.
import type { UseGrowth } from '../../store/change.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import type { CandidateTable } from '../candidates/table.ts'
import * as calls from './calls.ts'
import type { ClaimRequest, ConsumerClaims } from './claim.ts'

/** By how much the use of one inventory grows. */
interface Growth {
  readonly of: ProviderId
  readonly resourceClass: string
  adds: number
  least: number
  most: number
  /** Divides all amounts. */
  divisor: number
}

interface Amount {
  readonly growth: Growth
  readonly amount: number
}

/** What one new consumer gets. */
interface Planned {
  readonly who: ConsumerClaims
  readonly has: readonly Amount[]
}

export class Plan {
  readonly #table: CandidateTable
  readonly #growths = new Map<string, Growth>()
  /** By how much the generation of a provider grows. */
  readonly #bumps = new Map<ProviderId, number>()
  readonly #claims = new Map<string, Planned>()

  constructor(table: CandidateTable) {
    this.#table = table
  }

  get providers(): ProviderId[] {
    return [...this.#bumps.keys()].sort((a, b) => a - b)
  }

  /** By how much the generation of one of these providers grows. */
  bumpsOf(provider: ProviderId): number {
    return this.#bumps.get(provider)!
  }

  get growths(): Growth[] {
    return [...this.#growths.values()].filter(({ adds }) => adds > 0)
  }

  /** Sorted by uuid: two transactions that add the same consumers can't deadlock. */
  get consumers(): Planned[] {
    return [...this.#claims.values()].sort((a, b) => (a.who.consumer < b.who.consumer ? -1 : 1))
  }

  /** Takes the request in, if it is plain and fits. If not, the plan stays as it was. */
  add(request: ClaimRequest): boolean {
    if (request.kind !== 'replace' || request.owner !== null) return false
    const taken: { who: ConsumerClaims; has: Amount[] }[] = []
    for (const who of request.consumers) {
      const has = this.#isNew(who) ? this.#take(who) : null
      if (has === null) {
        for (const { growth, amount } of taken.flatMap(one => one.has)) growth.adds -= amount
        return false
      }
      taken.push({ who, has })
    }
    const bumped = new Set(taken.flatMap(({ has }) => has.map(({ growth }) => growth.of)))
    for (const provider of bumped) this.#bumps.set(provider, (this.#bumps.get(provider) ?? 0) + 1)
    for (const one of taken) this.#claims.set(one.who.consumer, one)
    return taken.length > 0
  }

  #isNew({ consumer, generation, resources }: ConsumerClaims): boolean {
    return generation === null && resources.size > 0 && !this.#claims.has(consumer)
  }

  #take({ resources }: ConsumerClaims): Amount[] | null {
    const table = this.#table
    const has: Amount[] = []
    for (const [uuid, amounts] of resources) {
      const row = table.rowOfUuid(uuid)
      if (row < 0 || table.dedicatedTo[row] !== null || amounts.size === 0) return undo(has)
      for (const [resourceClass, amount] of amounts) {
        const column = table.column(resourceClass)
        const entry = column === null ? -1 : column.at(row)
        if (entry < 0 || !column!.unitsFit(entry, amount)) return undo(has)
        const growth = this.#growths.getOrInsertComputed(`${row} ${resourceClass}`, () => ({
          of: table.id[row]!,
          resourceClass,
          adds: 0,
          least: amount,
          most: amount,
          divisor: amount,
        }))
        if (column!.room[entry]! < growth.adds + amount) return undo(has)
        growth.adds += amount
        growth.least = Math.min(growth.least, amount)
        growth.most = Math.max(growth.most, amount)
        growth.divisor = commonDivisor(growth.divisor, amount)
        has.push({ growth, amount })
      }
    }
    return has
  }

  /** The arguments of the call. */
  claims(): Omit<Parameters<typeof calls.claimNew>[0], keyof ReturnType<typeof calls.toldBy> | 'now'> {
    const { numbers, texts } = calls
    const { providers, growths, consumers: claims } = this
    const classNames = new Map<string, number>()
    const place = (name: string) => classNames.getOrInsertComputed(name, () => classNames.size + 1)
    const amounts = claims.flatMap(({ has }) => has)
    return {
      consumers: texts(claims.map(({ who }) => who.consumer)),
      projects: texts(claims.map(({ who }) => who.projectId)),
      users: texts(claims.map(({ who }) => who.userId)),
      types: texts(claims.map(({ who }) => who.type ?? null)),
      providers: numbers(providers),
      bumps: numbers(providers.map(id => this.#bumps.get(id)!)),
      usedOf: numbers(growths.map(({ of }) => of)),
      usedClass: numbers(growths.map(({ resourceClass }) => place(resourceClass))),
      adds: numbers(growths.map(({ adds }) => adds)),
      least: numbers(growths.map(({ least }) => least)),
      most: numbers(growths.map(({ most }) => most)),
      divisor: numbers(growths.map(({ divisor }) => divisor)),
      claimBy: numbers(claims.flatMap(({ has }, i) => has.map(() => i + 1))),
      claimOf: numbers(amounts.map(({ growth }) => growth.of)),
      claimClass: numbers(amounts.map(({ growth }) => place(growth.resourceClass))),
      amounts: numbers(amounts.map(({ amount }) => amount)),
      classNames: texts([...classNames.keys()]),
    }
  }

  /** What memory learns when the claims are written, from the new revisions of the providers in their order. */
  changes(revisions: readonly number[]): UseGrowth[] {
    const growths = Map.groupBy(this.#growths.values(), ({ of }) => of)
    return this.providers.map((provider, i) => ({
      provider,
      revision: revisions[i]!,
      bumps: this.#bumps.get(provider)!,
      grown: growths.get(provider)!.map(({ resourceClass, adds }) => [resourceClass, adds] as const),
    }))
  }
}

function undo(has: readonly Amount[]): null {
  for (const { growth, amount } of has) growth.adds -= amount
  return null
}

function commonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b]
  return a
}
