// Checks media types. Upstream does so only in some handlers, and in some of them before the version.
import { problem } from '../../problems/problem.ts'
import { jsonIsAccepted } from '../frame/checks.ts'
import type { Check } from '../frame/dialect.ts'
import type { PlacementRequest } from './request.ts'
import type { Word } from './versions.ts'

export function requireJsonBody({ raw }: PlacementRequest): void {
  const given = raw.headers['content-type']?.split(';', 1)[0]!.trim()
  if (given !== 'application/json') throw problem('unsupported_media_type', { given: given || 'None' })
}

const fits: Check<Word> = (request, reply) => {
  const { json } = request.route!
  if (json === 'body') requireJsonBody(request)
  if (json === 'answer') jsonIsAccepted(request, reply)
}

export const mediaTypeFitsFirst: Check<Word> = (request, reply) => {
  if (request.route!.mediaTypeFirst) fits(request, reply)
}

export const mediaTypeFits: Check<Word> = (request, reply) => {
  if (!request.route!.mediaTypeFirst) fits(request, reply)
}
