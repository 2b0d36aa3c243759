// What opens a medium of one deployment: made from what is in it, so it ends when the deployment does, no key has to be
// kept, and whoever could work it out knows the content already.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Machine } from '../drivers/port.ts'

type Deployment = Pick<Machine, 'uuid' | 'instanceUuid'>

export function signatureFor(medium: string, content: unknown, { uuid, instanceUuid }: Deployment): string {
  const key = createHash('sha256')
    .update(JSON.stringify(content ?? null))
    .digest()
  return createHmac('sha256', key)
    .update(`${medium}\n${uuid}\n${instanceUuid ?? ''}`)
    .digest('base64url')
}

/** Takes the same time for all that are wrong. */
export function isSameSignature(expected: string, given: string): boolean {
  const [one, other] = [expected, given].map(text => createHash('sha256').update(text).digest())
  return timingSafeEqual(one!, other!)
}

/** Below `base`, the address of this service as BMCs reach it. */
export const mediumUrl = (base: string, node: string, signature: string, file: string) =>
  `${base.replace(/\/+$/, '')}/holdfast/v1/media/${node}/${signature}/${file}`
