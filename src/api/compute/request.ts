// The request type of compute's handlers, and a helper that only they need.
import type { Request } from '../frame/request.ts'
import type { Word } from './versions.ts'

export type { Answer } from '../frame/dialect.ts'
export type ComputeRequest = Request<Word>

/** The project whose private flavors the caller sees; null for all projects. Everyone sees public flavors. */
export const seesFlavorsOf = (request: ComputeRequest): string | null =>
  request.may('os_compute_api:flavors:list_all') ? null : request.project
