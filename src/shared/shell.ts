// Words of a command line that people copy into a shell. Others chose the names in it.

/** A shell takes it as it is, and no command takes it for an option. */
const PLAIN = /^(?!-)[\w.,:@%+=/-]+$/

/** The word, quoted where a shell needs it. */
export const quoted = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`

/** What to call a thing in a command: its name if that is plain, else its id. A name may look like an option, too. */
export const inCommand = (name: string | null | undefined, id: string): string =>
  typeof name === 'string' && PLAIN.test(name) ? name : quoted(id)
