// docs/ADDING-AN-ENDPOINT.md shows the code as it is.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const fileAt = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

void test('every piece of code in docs/ADDING-AN-ENDPOINT.md is in the file that is named before it', () => {
  const page = fileAt('docs/ADDING-AN-ENDPOINT.md')
  let file = ''
  let pieces = 0
  for (const [, name, code] of page.matchAll(/^`([\w./-]+\.ts)`$|^```ts\n([^]*?)^```$/gm)) {
    if (name !== undefined) file = name
    else assert.ok(fileAt(file).includes(code!), `${file} doesn't have:\n${code}`)
    if (code !== undefined) pieces++
  }
  assert.ok(pieces > 10, `only ${pieces} pieces`)
})
