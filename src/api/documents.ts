// The OpenAPI documents of all APIs. Each is generated on first use and cached as bytes.
import { baremetalApi } from './baremetal/openapi.ts'
import { computeApi } from './compute/openapi.ts'
import { identityApi } from './identity/openapi.ts'
import { imageApi } from './image/openapi.ts'
import { type ApiDescription, documentOf } from './openapi.ts'
import { operatorApi } from './operator/openapi.ts'
import { placementApi } from './placement/openapi.ts'
import { reservationApi } from './reservation/openapi.ts'

export const APIS: Readonly<Record<string, ApiDescription>> = {
  placement: placementApi,
  baremetal: baremetalApi,
  reservation: reservationApi,
  compute: computeApi,
  identity: identityApi,
  image: imageApi,
  operator: operatorApi,
}

const made = new Map<string, Buffer>()

/** The document of an API as it is checked in and served; null when there is no such API. */
export function documentBytes(name: string): Buffer | null {
  if (!Object.hasOwn(APIS, name)) return null
  return made.getOrInsertComputed(name, () => Buffer.from(`${JSON.stringify(documentOf(APIS[name]!), null, 2)}\n`))
}
