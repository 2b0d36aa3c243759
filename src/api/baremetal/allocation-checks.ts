// The checks of an allocation's members.
import { canBeName, WANTED_NAME } from '../../metal/nodes/attributes.ts'
import { limits } from '../../shared/limits.ts'
import { Type } from '../../shared/type.ts'
import { Text } from '../shapes.ts'
import { is, isText } from './collection.ts'

export const isList = (max: number) =>
  is(
    Type.Array(Text, { maxItems: max }),
    value => Array.isArray(value) && value.length <= max && value.every(item => typeof item === 'string'),
  )

/** Named as nodes are: a name that looks like a uuid could hide another allocation. */
export const isName = is(
  Type.String({ pattern: '^[A-Za-z0-9._~-]{1,255}$', description: WANTED_NAME }),
  value => typeof value === 'string' && canBeName(value),
)
/** A name that everyone may see, and behind the slash the proof, which nobody is shown. */
const KEEPER = new RegExp(`^[^/\\u0000-\\u001f\\u007f-\\u009f]{1,${limits.keeperNameMax}}/[A-Za-z0-9_-]{16,64}$`)
export const isKeeper = is(
  Type.String({
    pattern: KEEPER.source,
    description: `NAME/PROOF: a name of up to ${limits.keeperNameMax} characters without a slash, and 16 to 64 letters, digits, _ and -`,
    writeOnly: true,
  }),
  value => typeof value === 'string' && KEEPER.test(value),
)
/** One line: it stands in tables. */
const NOTE = new RegExp(`^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{1,${limits.noteMax}}$`)
export const isNote = is(
  Type.String({ pattern: NOTE.source, description: `one line of 1 to ${limits.noteMax} characters` }),
  value => typeof value === 'string' && NOTE.test(value),
)
export const isClass = is(Type.String({ minLength: 1, maxLength: 80 }), value => isText(80)(value) && value !== '')
