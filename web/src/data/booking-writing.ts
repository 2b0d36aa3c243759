// Writes a draft: a new booking, or the change of one, with a way back.
import { ifThere } from '../../../src/client/asking.ts'
import { isHoldfastError } from '../../../src/client/errors.ts'
import { words } from '../words.ts'
import { changeOf, type Draft, leaseOf, type Moved, nameOf } from './booking-draft.ts'
import { lasting, serverNow, when } from './clock.ts'
import { tellDone } from './doing.ts'
import { server } from './session.ts'

/** Throws the refusal. `id` is chosen by us, so that a booking whose answer got lost is not made twice. */
export async function book(draft: Draft, id: string, show: (made: Draft) => void): Promise<void> {
  const { leases } = server()
  try {
    await leases.create({ ...leaseOf(draft, serverNow()), id })
  } catch (error) {
    const isUnclear = !isHoldfastError(error, 'no_fit', 'invalid', 'forbidden', 'unauthorized')
    const made = isUnclear ? await ifThere(leases.show(id)).catch(() => null) : null
    if (made === null) throw error
  }
  tellDone({
    said: words.booking.booked(nameOf(draft), when(draft.start), lasting(draft.end - draft.start)),
    undo: ({ leases: all }) => all.delete(id),
    show: { text: words.booking.show, act: () => show(draft) },
  })
}

/** Throws the refusal. */
export async function move(draft: Draft, before: Moved): Promise<void> {
  const { name } = before
  if (before.kind === 'allocation') return renew(draft, before)
  const change = changeOf(draft, before, serverNow())
  await server().leases.update(before.id, change)
  const isStretch = change.start_date === undefined
  tellDone({
    said: isStretch ? words.booking.stretched(name, when(draft.end)) : words.booking.moved(name, when(draft.start)),
    undo: ({ leases }) => leases.update(before.id, changeOf(before, { ...before, ...span(draft) }, serverNow())),
  })
}

async function renew({ end }: Draft, { id, name, end: was }: Moved): Promise<void> {
  await server().allocations.renew(id, new Date(end).toISOString())
  tellDone({
    said: words.booking.stretched(name, when(end)),
    undo: ({ allocations }) => allocations.renew(id, new Date(was).toISOString()),
  })
}

const span = ({ start, end }: Draft) => ({ start, end })
