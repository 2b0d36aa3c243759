// Every type of event: the kind of object, and what it can become. Types are stable: clients switch on them.

interface Kind {
  /** The kind of the object in the audit, where it has another name. */
  readonly subject?: string
  /** So many that only those hear of them who ask for the kind. */
  readonly isQuiet?: boolean
  /** What it can become, and when that is told. */
  readonly became: Readonly<Record<string, string>>
}

export const KINDS = {
  allocation: {
    became: {
      created: 'It was asked for.',
      waiting: 'No node is free, and it waits for one.',
      active: 'It has a node.',
      error: 'It got no node; `reason` says why.',
      retried: 'A node is looked for again.',
      renewed: 'Its end was moved.',
      changed: 'Its name or `extra` was changed, or who keeps it.',
      ending: 'Someone else ends it; its holder has the node until `until` at the longest.',
      before_end: 'It ends soon.',
      ended: 'It is gone, and its node is free; `reason` says why.',
    },
  },
  hold: {
    subject: 'reservation',
    became: {
      created: 'The nodes are held.',
      renewed: 'Its end was moved.',
      redeemed: 'An allocation or an instance took its place.',
      expired: 'Its time was over.',
      released: 'It was given back.',
    },
  },
  node: {
    became: {
      created: 'It was enrolled.',
      changed: 'Its attributes were changed.',
      provision_state: 'It went from one provision state to another.',
      power_state: 'It was switched on or off.',
      maintenance: 'It was put into maintenance, or taken out.',
      traits: 'Its traits were changed.',
      deleted: 'It is gone.',
    },
  },
  lease: {
    became: {
      created: 'It was booked.',
      changed: 'Its times, its reservations, its name or its status changed.',
      started: 'It began.',
      before_end: 'It ends soon.',
      ended: 'It is over.',
      degraded: 'A part of it is missing, or not all of it is done in Nova yet; then `reason` says why.',
      whole: 'Nothing is missing any more, and Nova has what it should have.',
      error: 'It could not begin or end as it should.',
      deleted: 'It is gone.',
    },
  },
  server: {
    became: {
      created: 'It was asked for.',
      active: 'It runs.',
      changed: 'Its state or its place changed.',
      error: 'It failed; `reason` says why.',
      deleted: 'It is gone.',
    },
  },
  provider: {
    subject: 'resource_provider',
    became: {
      created: 'It was added.',
      changed: 'Its name, parent or aggregates were changed.',
      inventory: 'Its inventories were changed.',
      traits: 'Its traits were changed.',
      deleted: 'It is gone.',
    },
  },
  claim: {
    subject: 'consumer',
    isQuiet: true,
    became: {
      set: 'The consumer has what `data` says, and nothing else.',
      deleted: 'The consumer has nothing any more.',
    },
  },
  conductor: {
    became: {
      joined: 'It began to work.',
      silent: 'It was not heard of for too long.',
      taken_over: 'Others do its work now.',
      left: 'It signed off.',
    },
  },
  webhook: {
    became: {
      disabled: 'It is switched off, because its receiver said so or failed for too long.',
    },
  },
} satisfies Readonly<Record<string, Kind>>

export type EventKind = keyof typeof KINDS

const table: Readonly<Record<string, Kind>> = KINDS
const bySubject = new Map(Object.entries(table).map(([kind, { subject = kind }]) => [subject, kind as EventKind]))

/** What the audit calls such an object. */
export const subjectKindOf = (kind: EventKind): string => table[kind]!.subject ?? kind

/** The kind of event about a subject of the audit; undefined when nobody is told of such. */
export const eventKindOf = (subject: string): EventKind | undefined => bySubject.get(subject)

export const isQuiet = (kind: EventKind): boolean => table[kind]!.isQuiet ?? false
