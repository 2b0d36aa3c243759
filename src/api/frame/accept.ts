// Reads the Accept header.

export function acceptsJson(accept: string | undefined): boolean {
  return accept === undefined || accept === '' || quality(accept, 'application', 'json') > 0
}

/** Whether a stream of events is wanted rather than JSON. */
export const prefersStream = (accept: string): boolean =>
  quality(accept, 'text', 'event-stream') > quality(accept, 'application', 'json')

/** The q of a media type: that of the most specific range that matches it. */
export function quality(accept: string, type: string, subtype: string): number {
  let best = { specific: -1, q: 0 }
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const specific = [`*/*`, `${type}/*`, `${type}/${subtype}`].indexOf(name)
    const q = Number(parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? 1)
    if (specific > best.specific) best = { specific, q: Number.isNaN(q) ? 0 : q }
  }
  return best.q
}
