// YAML for the commands: loaded when there is some to read or to write, which is seldom.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const library = () => require('yaml') as typeof import('yaml')

export const parseYaml = (text: string): unknown => library().parse(text)
export const yamlOf = (value: unknown): string => library().stringify(value)
