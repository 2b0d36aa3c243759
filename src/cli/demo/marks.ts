// The marks that identify the demo's things. The request that creates a thing also marks it, so after an
// interrupted run exactly these are found.
import { createHash } from 'node:crypto'
import type { Json } from '../../client/index.ts'

/** On every machine and host of the demo. All its requests require this trait, so they get no other machines. */
export const DEMO_TRAIT = 'CUSTOM_DEMO'

/** The mark of nodes, ports, chassis and allocations, which have an `extra` field. */
export const EXTRA = { demo: true } as const
export const isMarked = (thing: Json) => (thing['extra'] as Json | undefined)?.['demo'] === true

/** Providers have no such field. One belongs to the demo if its uuid is the hash of its name. */
export function demoUuid(kind: string, name: string): string {
  const hex = createHash('sha256').update(`holdfast demo ${kind} ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
export const isDemoProvider = ({ uuid, name }: { uuid: string; name: string }) => uuid === demoUuid('provider', name)

/** The id of a flavor is free text, so it is the mark. */
export const flavorId = (name: string) => `demo-${name}`

export const SERVER_METADATA = { demo: 'true' } as const

/** Hosts in the pool have a capability, and leases ask for it. */
export const HOST_CAPABILITY = { demo: 'yes' } as const
export const HOST_PROPERTIES = JSON.stringify(['=', '$demo', 'yes'])

/** A lease is the demo's if it requires that capability or the trait. */
export const isDemoLease = ({ reservations }: { reservations: readonly Json[] }) =>
  reservations.some(
    ({ resource_properties, traits }) =>
      resource_properties === HOST_PROPERTIES || (Array.isArray(traits) && traits.includes(DEMO_TRAIT)),
  )
