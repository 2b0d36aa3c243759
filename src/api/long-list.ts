// Lists of any length as JSON: short ones as an object for the frame, long ones as text in pieces, with turns for others.
import { Pieces } from '../http/pieces.ts'
import { limits } from '../shared/limits.ts'
import { runYielding } from '../shared/yielding.ts'

/** The body `{name: items}`, each item as `show` gives it. */
export async function longList<Item>(
  name: string,
  items: readonly Item[],
  show: (item: Item) => object,
): Promise<object> {
  if (items.length <= limits.listItemsPerTurn) return { [name]: items.map(show) }
  return new Pieces(await runYielding(written(name, items, show)))
}

/** The body `{name: {key: value, …}, ...rest}`, from the key and value of each item. No key may come twice. */
export async function longObject<Item>(
  name: string,
  items: readonly Item[],
  show: (item: Item) => readonly [string, object],
  rest: object,
): Promise<object> {
  if (items.length <= limits.listItemsPerTurn) return { [name]: Object.fromEntries(items.map(show)), ...rest }
  return new Pieces(await runYielding(writtenMembers(name, items, show, rest)))
}

function* writtenMembers<Item>(
  name: string,
  items: readonly Item[],
  show: (item: Item) => readonly [string, object],
  rest: object,
): Generator<undefined, Buffer[], void> {
  const pieces: Buffer[] = []
  for (let from = 0; from < items.length; from += limits.listItemsPerTurn) {
    const members = items.slice(from, from + limits.listItemsPerTurn).map(item => {
      const [key, value] = show(item)
      return `${JSON.stringify(key)}:${JSON.stringify(value)}`
    })
    pieces.push(Buffer.from(`${from === 0 ? `{${JSON.stringify(name)}:{` : ','}${members.join()}`))
    yield
  }
  const more = JSON.stringify(rest).slice(1)
  pieces.push(Buffer.from(more === '}' ? '}}' : `},${more}`))
  return pieces
}

function* written<Item>(
  name: string,
  items: readonly Item[],
  show: (item: Item) => object,
): Generator<undefined, Buffer[], void> {
  const pieces: Buffer[] = []
  for (let from = 0; from < items.length; from += limits.listItemsPerTurn) {
    const part = items.slice(from, from + limits.listItemsPerTurn).map(show)
    const text = JSON.stringify(part).slice(1, -1)
    pieces.push(Buffer.from(from === 0 ? `{${JSON.stringify(name)}:[${text}` : `,${text}`))
    yield
  }
  pieces.push(Buffer.from(']}'))
  return pieces
}
