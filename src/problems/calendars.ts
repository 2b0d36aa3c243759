// The problems of calendars, and their messages.

export const CALENDAR_PROBLEMS = {
  calendar_not_found: (f: { id: string }) => `Calendar ${f.id} could not be found.`,
  calendar_limit: (f: { max: number }) => `You have ${f.max} calendars already; delete one first.`,
} as const
