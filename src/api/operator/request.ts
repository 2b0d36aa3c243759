// The request type of the operator API's handlers.
import type { Request } from '../frame/request.ts'
import { baremetal } from '../baremetal/dialect.ts'
import type { MetalRequest } from '../baremetal/request.ts'
import { NEWEST } from '../baremetal/versions.ts'

export type { Answer } from '../frame/dialect.ts'
export type OperatorRequest = Request

/** The same request for bare metal's handlers, in the newest version. */
export const inMetal = (request: OperatorRequest): MetalRequest => request.as(baremetal, NEWEST)
