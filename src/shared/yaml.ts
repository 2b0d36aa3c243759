// YAML. The library is loaded when it is needed, which is seldom.
// So is what loads it, because browsers haven't got it.

export const yaml = () => {
  const { createRequire } = process.getBuiltinModule('node:module')
  return createRequire(import.meta.url)('yaml') as typeof import('yaml')
}

export const parseYaml = (text: string): unknown => yaml().parse(text)
export const yamlOf = (value: unknown): string => yaml().stringify(value)
