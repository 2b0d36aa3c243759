// YAML for the commands. The library is loaded when it is needed, which is seldom.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const library = () => require('yaml') as typeof import('yaml')

export const parseYaml = (text: string): unknown => library().parse(text)
export const yamlOf = (value: unknown): string => library().stringify(value)
