// How demo knows its own things again: a mark is put on each in the request that makes it, so that also after an
// interrupted run all of it is found, and nothing else.
import { createHash } from 'node:crypto'
import type { Json } from '../../client/index.ts'

/** On every machine and host of the demo; whatever the demo asks for asks for it too, and so gets no other's. */
export const DEMO_TRAIT = 'CUSTOM_DEMO'

/** Nodes, ports, chassis and allocations have room for words of their own. */
export const EXTRA = { demo: true } as const
export const isMarked = (thing: Json) => (thing['extra'] as Json | undefined)?.['demo'] === true

/** Providers don't: a provider is the demo's if its uuid is what its name makes it. */
export function demoUuid(kind: string, name: string): string {
  const hex = createHash('sha256').update(`holdfast demo ${kind} ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
export const isDemoProvider = ({ uuid, name }: { uuid: string; name: string }) => uuid === demoUuid('provider', name)

/** The ids of flavors are free text. */
export const flavorId = (name: string) => `demo-${name}`

export const SERVER_METADATA = { demo: 'true' } as const

/** Hosts in the pool have a capability, and leases ask for it. */
export const HOST_CAPABILITY = { demo: 'yes' } as const
export const HOST_PROPERTIES = JSON.stringify(['=', '$demo', 'yes'])

/** A lease is known by what it asks for. */
export const isDemoLease = ({ reservations }: { reservations: readonly Json[] }) =>
  reservations.some(
    ({ resource_properties, traits }) =>
      resource_properties === HOST_PROPERTIES || (Array.isArray(traits) && traits.includes(DEMO_TRAIT)),
  )
