// Reads server-sent events from the text of a stream, as the HTML standard says.

export interface Told {
  /** Where the stream is now. */
  id: string
  type: string
  /** Null when only the place has changed. */
  data: string | null
}

/** What a stream of text tells; an unfinished end is left out. */
export async function* toldIn(chunks: AsyncIterable<string>): AsyncGenerator<Told, void, void> {
  let rest = ''
  let [id, type]: [string, string] = ['', '']
  let data: string[] = []
  for await (const chunk of chunks) {
    // A long line is put together before it is looked at.
    if (!/[\r\n]/.test(chunk) && !rest.endsWith('\r')) {
      rest += chunk
      continue
    }
    // A CR at the end may be half of a CR LF.
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    for (const line of lines) {
      const [, name, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line)!
      if (line === '') {
        if (id !== '' || data.length > 0) yield { id, type, data: data.length > 0 ? data.join('\n') : null }
        type = ''
        data = []
      } else if (name === 'id') id = value
      else if (name === 'event') type = value
      else if (name === 'data') data.push(value)
    }
  }
}
