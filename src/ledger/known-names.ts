// Checks that the resource classes and traits named in a filter exist.
import { problem } from '../problems/problem.ts'
import { query } from '../store/statement.ts'
import { all, type Read } from '../store/transaction.ts'
import { classesNamed } from './resource-classes.ts'
import { standardClasses, standardTraits } from './standard.ts'

const standard = { classes: new Set(standardClasses), traits: new Set(standardTraits) }

const traitNames = query((db, a: { names: readonly string[] }, on) =>
  db.selectFrom('traits').select('name').where(on.isIn('name', a.names)),
)

/** The names that aren't standard: only the database knows whether they exist. */
export function customNames(classes: Iterable<string>, traits: Iterable<string>) {
  const custom = { classes: new Set<string>(), traits: new Set<string>() }
  for (const name of classes) if (!standard.classes.has(name)) custom.classes.add(name)
  for (const name of traits) if (!standard.traits.has(name)) custom.traits.add(name)
  return custom
}

type CustomNames = ReturnType<typeof customNames>

/** Throws a problem that names what doesn't exist. */
export function* requireNames({ classes, traits }: CustomNames): Read<void> {
  if (classes.size > 0) {
    const known = yield* classesNamed([...classes])
    const unknown = classes.values().find(name => !known.has(name))
    if (unknown !== undefined) {
      throw problem('class_unknown', { name: unknown, where: 'Invalid resource class in resources parameter' })
    }
  }
  if (traits.size > 0) {
    const known = new Set((yield* all(traitNames({ names: [...traits] }))).map(row => row.name))
    const unknown = [...traits].filter(name => !known.has(name))
    if (unknown.length > 0) throw problem('traits_unknown', { names: unknown.join(', ') })
  }
}
