// What is said of a draft: the same in the form, in the refusal and to screen readers. Names of people come from what is
// shown of the fleet, and are absent where the viewer may not know them.
import type { Span } from '../../../../src/client/status.ts'
import type { Answer, Obstacle, Offer, Reason } from '../../data/booking-answer.ts'
import type { Draft } from '../../data/booking-draft.ts'
import { lasting, stretch, when } from '../../data/clock.ts'
import { words } from '../../words.ts'
import { traitShown } from '../trait.ts'

/** `5 gpu-a100 with NVLINK, Fri 20 Nov 09:00, for 2 d`. */
export function askedFor({ kind, name, count, class: wanted, traits, start, end }: Draft): string {
  const span: [string, string] = [when(start), lasting(end - start)]
  return kind === 'move'
    ? words.booking.askedMove(name, ...span)
    : words.booking.asked(count, wanted, traits.map(traitShown), ...span)
}

/** `Doesn’t fit: 4 of 5 are free then`. */
export const refusalTitle = ({ message, free, of }: Answer, { kind }: Draft): string =>
  message === null ? words.booking.doesNotFit(free, of) : words.booking.refused[kind]

interface Group {
  glyph: string
  /** `2 are booked`. */
  strong: string
  /** `rack-a01-12, rack-a01-13 by nlp-pretraining (bob), Fri 19:00 to Sun 19:00`. */
  details: readonly string[]
  /** It is none of what was asked for. */
  isAside: boolean
}

const NAMED_MAX = 5

/** Who is in the way, who is free, and who is none of it; counts are the server's. */
export function groupsOf(answer: Answer, spansOf: (uuid: string) => readonly Span[]): Group[] {
  const order: Reason['kind'][] = ['booked', 'closed', 'free', 'not bookable', 'not matching']
  return order.flatMap(kind => {
    const reason = answer.reasons.find(one => one.kind === kind)
    return reason === undefined || reason.count === 0 ? [] : [groupOf(reason, spansOf)]
  })
}

const plain = (glyph: string, strong: string): Group => ({ glyph, strong, details: [], isAside: false })

function groupOf(reason: Reason, spansOf: (uuid: string) => readonly Span[]): Group {
  const { count, sample } = reason
  const names = () =>
    words.booking.named(
      sample.slice(0, NAMED_MAX).map(({ name }) => name),
      count,
    )
  switch (reason.kind) {
    case 'booked':
      return { ...plain('booked', words.booking.areBooked(count)), details: obstaclesIn(sample, spansOf) }
    case 'free':
      return { ...plain('free', words.booking.areFree(count)), details: names() }
    case 'closed':
      return { ...plain('maintenance', words.booking.areClosed(count)), details: names() }
    case 'not bookable':
      return { ...plain('setup', words.booking.notBookable(count)), isAside: true }
    default:
      return { ...plain('setup', words.booking.notMatching(count)), isAside: true }
  }
}

/** Those that one lease has are said together. */
function obstaclesIn(sample: readonly Obstacle[], spansOf: (uuid: string) => readonly Span[]): string[] {
  const groups = Map.groupBy(sample.slice(0, NAMED_MAX), ({ lease, from, until }) => `${lease?.id} ${from} ${until}`)
  return [...groups.values()].map(all => {
    const { lease, from, until, machine } = all[0]!
    const who = lease && (spansOf(machine).find(({ id }) => id === lease.id)?.who ?? null)
    const times = timesOf(from, until)
    return words.booking.obstacle(
      all.map(({ name }) => name),
      lease?.name ?? null,
      who,
      times,
    )
  })
}

function timesOf(from: number | null, until: number | null): string | null {
  if (until === null) return null
  if (from === null) return words.booking.until(when(until))
  const { start, end } = stretch(from, until)
  return words.booking.span(start, end)
}

/** `Sun 22 Nov 19:00`, `to Tue 24 Nov 19:00`, `58 h later`. */
export function offerWords(offer: Offer): { strong: string; rest: string; aside: string } {
  if (offer.kind === 'fewer') {
    return {
      strong: words.booking.machines(offer.count),
      rest: words.booking.atThatTime,
      aside: words.booking.fewer(offer.by),
    }
  }
  if (offer.kind === 'shorter') {
    return {
      strong: words.booking.until(when(offer.end)),
      rest: '',
      aside: words.booking.shorter(lasting(offer.byMs)),
    }
  }
  const { start, end } = stretch(offer.start, offer.end)
  return {
    strong: start,
    rest: words.booking.to(end),
    aside: words.booking.later(lasting(offer.laterMs)),
  }
}
