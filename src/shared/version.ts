// Which version this is: the package's, beside us in a clone and in a package alike.
import { readFileSync } from 'node:fs'

const PACKAGE = new URL('../../package.json', import.meta.url)

export const { version: VERSION } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }
