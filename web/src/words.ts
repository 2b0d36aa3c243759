// Every word that the dashboard shows, in one place, by page. Plain, present tense, subject first, numbers before
// adjectives. Verbs as in the command. "…" means that a question follows.
import type { MachineState } from '../../src/client/status.ts'

/** `1 machine`, `2 machines`. */
export const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`
/** `a, b and c`. */
export const list = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
/** `1st`, `2nd`, `3rd`, `4th`. */
export const nth = (number: number) => {
  const last = number % 100 > 10 && number % 100 < 14 ? 0 : number % 10
  return `${number}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`
}

const states: Readonly<Record<MachineState, { word: string; means: string }>> = {
  free: { word: 'free', means: 'nobody has it, nothing is booked' },
  booked: { word: 'booked', means: 'free until its next booking' },
  held: { word: 'held', means: 'kept for someone for a short while' },
  taken: { word: 'taken', means: 'someone has it' },
  working: { word: 'working', means: 'a conductor is at work' },
  setup: { word: 'setup', means: 'not offered yet' },
  maintenance: { word: 'maintenance', means: 'kept out of use, with a reason' },
  broken: { word: 'broken', means: 'something failed, needs a person' },
  retired: { word: 'retired', means: 'leaving the fleet' },
}

export const words = {
  states,
  you: 'you',
  /** Of a promise that the viewer may not know about. */
  someone: 'someone',
  shell: {
    skip: 'Skip to content',
    pages: 'Pages',
    now: 'Now',
    calendar: 'Calendar',
    queue: 'Queue',
    mine: 'Mine',
    capacity: 'Capacity',
    operator: 'Operator',
    more: 'More',
    wait: (n: number) => `${n} wait`,
    failed: (n: number) => count(n, 'failed machine'),
    find: 'Find a machine, person, booking',
    live: 'Live',
    liveSince: (ago: string) => `Changes arrive as they happen; the last word from the server was ${ago} ago`,
    connecting: 'Connecting',
    notLive: 'Not live',
    notLiveSince: (at: string) => `Not live since ${at}.`,
    trueThen: 'You see what was true then.',
    tryingIn: (seconds: number) => (seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again.'),
    tryNow: 'Now',
    theme: 'Theme: dark or light',
    zone: (shown: string, other: string) => `Times are in ${shown}. Show ${other}`,
    me: (user: string, project: string | null) => (project === null ? user : `${user}, project ${project}`),
    anyone: 'anyone',
    logOut: 'Log out',
    switchProject: 'Switch project',
    keys: 'Keys',
    api: 'API reference',
    changed: (n: number) => `${count(n, 'machine')} changed`,
    pageGone: 'Nothing at this address',
    toNow: 'To Now',
    refusedLoad: 'This page can’t be shown',
    tryAgain: 'Try again',
    newVersion: 'The server has a newer dashboard.',
    reload: 'Load it',
  },
  doing: {
    undo: 'Undo',
    dismiss: 'Close',
    cancel: 'Cancel',
    offline: 'Not while the connection is lost',
    undone: (what: string) => `Undone: ${what}`,
    notUndone: (why: string) => `Can’t be undone: ${why}`,
    refused: (why: string) => `Refused: ${why}`,
    copy: 'Copy',
    copied: 'Copied',
    close: 'Close',
  },
  keys: {
    title: 'Keys',
    off: 'Use single keys',
    offWhy: 'Switch them off if you speak to your computer, or press keys by accident.',
    everywhere: 'Everywhere',
    find: 'find',
    help: 'this list',
    goNow: 'to Now',
    goCalendar: 'to Calendar',
    goQueue: 'to Queue',
    goMine: 'to Mine',
    goCapacity: 'to Capacity',
    goOperator: 'to Operator',
    zone: 'UTC or local time',
    undo: 'undo',
    back: 'back',
  },
  login: {
    title: 'Log in',
    user: 'Name',
    password: 'Password',
    project: 'Project',
    projectHint: 'your only one, if left empty',
    credential: 'Application credential (id)',
    secret: 'Secret',
    domain: 'Domain',
    enter: 'Log in',
    withCredential: 'With an application credential',
    withPassword: 'With name and password',
    ended: 'Your login has ended. Log in again.',
    required: (field: string) => `${field} is missing`,
  },
  time: {
    weekdays: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
    months: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
    fullMonths: [
      'January',
      'February',
      'March',
      'April',
      'May',
      'June',
      'July',
      'August',
      'September',
      'October',
      'November',
      'December',
    ],
  },
  timeline: {
    noEnd: 'no end set',
    many: (n: number) => `${n} promises`,
    now: (at: string) => `Now: ${at}`,
    /** `nlp-shared-task, bob, booked, Fri 19:00 to Sun 19:00`. */
    bar: (parts: readonly (string | null)[], start: string | null, end: string | null) =>
      [
        ...parts.filter(part => part !== null),
        ...(start === null ? [] : [end === null ? `from ${start}, no end` : `${start} to ${end}`]),
      ].join(', '),
    cursor: (at: string) => `at ${at}`,
  },
  now: {},
  find: {},
  calendar: {},
  booking: {},
  get: {},
  queue: {},
  capacity: {},
  machine: {},
  verbs: {},
  mine: {},
  operator: {},
  reference: {},
} as const
