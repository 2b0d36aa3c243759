// The problems of reading events, and their messages.

/** The first and the last entry that are kept, as cursors. */
interface Kept {
  oldest: string
  newest: string
}

export const EVENT_PROBLEMS = {
  events_gone: (f: { after: string; details: Kept }) =>
    `Events after ${f.after} are no longer kept: the oldest that is has the id ${f.details.oldest}. ` +
    'Look at what is now, and begin with after=0 or without after.',
  events_ahead: (f: { after: string; details: Kept }) =>
    `There is nothing at ${f.after} yet: the newest entry is ${f.details.newest}. The cursor is of another database, ` +
    'or of one that was restored. Look at what is now, and begin without after.',
  ticket_by_password: (_: object) => 'A ticket is for a token; log in for one, and ask with it.',
} as const
