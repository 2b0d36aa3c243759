// The request type of Placement's handlers.
import type { Request } from '../frame/request.ts'
import type { Word } from './versions.ts'

export type { Answer } from '../frame/dialect.ts'
export type PlacementRequest = Request<Word>
