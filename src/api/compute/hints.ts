// Scheduler hints: `reservation` puts a server on the hosts of a lease. All other hints are ignored.
import { classOf } from '../../leases/lifecycle/reservation-resources.ts'
import { findReservation } from '../../leases/lifecycle/rows.ts'
import { problem } from '../../problems/problem.ts'
import type { Read } from '../../store/transaction.ts'
import { Type } from '../../shared/type.ts'

const Id = Type.String({ minLength: 1, maxLength: 255 })
// A single hint may also come as a list.
export const Hints = Type.Optional(
  Type.Object({ reservation: Type.Optional(Type.Union([Id, Type.Array(Id, { minItems: 1, maxItems: 16 })])) }),
)
interface Hinting {
  reservation?: string | string[]
}

const refuse = (reason: string) => problem('compute_invalid', { reason })

/** The reservation that the hints name; null for none. Hints may be in several places of a body. */
export function hintedReservation(...hints: readonly (Hinting | undefined)[]): string | null {
  const named = new Set(hints.flatMap(given => given?.reservation ?? []).map(id => id.toLowerCase()))
  if (named.size > 1) throw refuse('The hint reservation can name one reservation.')
  return [...named][0] ?? null
}

/** The class of a reservation whose hosts this project may use now. Reservations of other projects look absent. */
export function* requireHosts(id: string, project: string): Read<string> {
  const found = yield* findReservation(id)
  if (!found || found.project_id !== project) throw refuse(`Reservation ${id} could not be found.`)
  if (found.resource_type === 'virtual:instance' || found.resource_type === 'flavor:instance') {
    throw refuse(`Reservation ${id} is of instances: they are made with its flavor, and without the hint.`)
  }
  if (found.resource_type !== 'physical:host') throw refuse(`Reservation ${id} is not of hosts.`)
  if (found.lease_status !== 'ACTIVE')
    throw refuse(`Reservation ${id} is not active: its lease is ${found.lease_status}.`)
  return classOf(id)
}
