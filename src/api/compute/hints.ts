// Scheduler hints: `reservation` puts a server on the hosts of a lease. All others are left aside.
import { Type } from 'typebox'
import { classOf } from '../../leases/lifecycle/reservation-resources.ts'
import { findReservation } from '../../leases/lifecycle/rows.ts'
import { problem } from '../../problems/problem.ts'
import type { Read } from '../../store/transaction.ts'

const Id = Type.String({ minLength: 1, maxLength: 255 })
// A hint that is given once may come as a list all the same.
export const Hints = Type.Optional(
  Type.Object({ reservation: Type.Optional(Type.Union([Id, Type.Array(Id, { minItems: 1, maxItems: 16 })])) }),
)
interface Hinting {
  reservation?: string | string[]
}

const refuse = (reason: string) => problem('compute_invalid', { reason })

/** Hints may stand in several places of a body; null when none of them names a reservation. */
export function hintedReservation(...hints: readonly (Hinting | undefined)[]): string | null {
  const named = new Set(hints.flatMap(given => given?.reservation ?? []).map(id => id.toLowerCase()))
  if (named.size > 1) throw refuse('The hint reservation can name one reservation.')
  return [...named][0] ?? null
}

/** The class of a reservation whose hosts this project may use now. Someone else's is as unknown as one that never was. */
export function* requireHosts(id: string, project: string): Read<string> {
  const found = yield* findReservation(id)
  if (!found || found.project_id !== project) throw refuse(`Reservation ${id} could not be found.`)
  if (found.resource_type === 'virtual:instance') {
    throw refuse(`Reservation ${id} is of instances: they are made with its flavor, and without the hint.`)
  }
  if (found.resource_type !== 'physical:host') throw refuse(`Reservation ${id} is not of hosts.`)
  if (found.lease_status !== 'ACTIVE')
    throw refuse(`Reservation ${id} is not active: its lease is ${found.lease_status}.`)
  return classOf(id)
}
