// A request of those who run Holdfast.
import type { Request } from '../frame/request.ts'
import { baremetal } from '../baremetal/dialect.ts'
import type { MetalRequest } from '../baremetal/request.ts'
import { NEWEST } from '../baremetal/versions.ts'

export type { Answer } from '../frame/dialect.ts'
export type OperatorRequest = Request

/** One about bare metal, in its newest words. */
export const inMetal = (request: OperatorRequest): MetalRequest => request.as(baremetal, NEWEST)
