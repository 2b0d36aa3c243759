// A request in compute's words, and what only compute's handlers ask of it.
import type { Request } from '../frame/request.ts'

export type { Answer } from '../frame/dialect.ts'
export type ComputeRequest = Request

/** Whose flavors the caller sees; null for everyone's. Public ones everyone sees. */
export const seesFlavorsOf = (request: ComputeRequest): string | null =>
  request.may('os_compute_api:flavors:list_all') ? null : request.project
