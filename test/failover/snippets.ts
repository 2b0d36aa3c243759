// What docs/DEPLOYING.md says to write into files and shells, to be used as it stands there.
import { readFileSync } from 'node:fs'

const page = readFileSync(new URL('../../docs/DEPLOYING.md', import.meta.url), 'utf8')

/** The first block of this language after a line. */
export function snippet(language: string, after: string): string {
  const from = page.indexOf(after)
  const start = page.indexOf(`\`\`\`${language}\n`, from)
  if (from < 0 || start < 0) throw new Error(`DEPLOYING.md has no ${language} after ${after}`)
  return page.slice(page.indexOf('\n', start) + 1, page.indexOf('\n```', start))
}
