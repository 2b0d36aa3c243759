// Links and times, in the form that all resources share.

import { named, oneOf, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

interface Link {
  href: string
  rel: 'self' | 'bookmark'
}
export const Links = Type.Array(named('Link', { href: Text, rel: oneOf('self', 'bookmark') }))

/** The pair that every resource has: one with the version in it, one without. */
export const linksTo = (base: string, path: string): [Link, Link] => [
  { href: `${base}/v1/${path}`, rel: 'self' },
  { href: `${base}/${path}`, rel: 'bookmark' },
]

export const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\+00:00$' })

/** Times as clients expect them: whole seconds, with an offset. */
export const shownTime = (ms: number | null): string | null =>
  ms === null ? null : `${new Date(ms).toISOString().slice(0, 19)}+00:00`
