// Writes an event as a letter: plain words for someone who must act, or must know.
import { inCommand } from '../shared/shell.ts'

interface Letter {
  readonly subject: string
  readonly text: string
}

/** An event as CloudEvents 1.0 has it. Its data is what the room that it comes from has to say. */
interface EventBody {
  readonly type: string
  readonly subject: string
  readonly time: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What a letter can say of an event. */
interface Facts {
  /** The name of the thing, or its id. */
  readonly name: string
  /** What it is called in a command. */
  readonly word: string
  /** ` on rack-a01-01`, if a machine is known. */
  readonly on: string
  /** ` at 2026-11-15 15:39 UTC`, if an end is known. */
  readonly until: string | null
  readonly reason: string | null
  /** Who did it, if it was a person. */
  readonly by: string | null
}

interface Words {
  readonly subject: (f: Facts) => string
  /** The command that helps. */
  readonly help?: (f: Facts) => string
}

/** Why an allocation ended, in words. Of `deleted` the letter says by whom. */
const REASONS: Readonly<Record<string, string | null>> = {
  deleted: null,
  expired: 'its time was over',
  lease: 'its lease is over, or has another machine now',
  torn_down: 'its machine was undeployed',
  instance_removed: 'its machine was taken from it',
  node_deleted: 'its machine is gone',
}

const because = ({ reason }: Facts) => (reason === null ? '' : `: ${reason}`)
const at = ({ until }: Facts) => (until === null ? 'soon' : `at ${until}`)
const renew = ({ word }: Facts) => `holdfast allocation renew ${word} --expires-at 2h`
const show = ({ word }: Facts) => `holdfast lease show ${word}`

const WORDS: Readonly<Record<string, Words>> = {
  'allocation.active': { subject: f => `It's your turn: ${f.name} has a machine${f.on}` },
  'allocation.error': {
    subject: f => `${f.name} got no machine${because(f)}`,
    help: ({ word }) => `holdfast allocation explain ${word}`,
  },
  'allocation.before_end': { subject: f => `${f.name}${f.on} ends ${at(f)}`, help: renew },
  'allocation.ending': {
    subject: f =>
      `${f.name}${f.on} is being ended${f.by === null ? '' : ` by ${f.by}`}; you have it until ${f.until ?? 'you let it go'}`,
    help: ({ word }) => `holdfast allocation delete ${word}`,
  },
  'allocation.ended': {
    subject: f => `${f.name}${f.on} has ended${f.by === null ? '' : ` by ${f.by}`}${because(f)}`,
    help: () => 'holdfast allocation create --help',
  },
  'lease.started': { subject: f => `The lease ${f.name}${f.on} has started` },
  'lease.before_end': {
    subject: f => `The lease ${f.name}${f.on} ends ${at(f)}`,
    help: ({ word }) => `holdfast lease update ${word} --prolong-for 1h`,
  },
  'lease.ended': { subject: f => `The lease ${f.name}${f.on} is over${because(f)}` },
  'lease.degraded': { subject: f => `The lease ${f.name} lacks a part of what it booked${because(f)}`, help: show },
  'lease.whole': { subject: f => `The lease ${f.name} has all again that it booked` },
  'lease.error': { subject: f => `The lease ${f.name} could not begin or end as it should${because(f)}`, help: show },
  'webhook.test': { subject: () => 'This is a test of your reminders' },
}

/** `webhook` is told, so that whoever gets it knows how to end it. */
export function letterOf(body: string, webhook: string): Letter {
  const event = JSON.parse(body) as EventBody
  const type = event.type.replace(/^holdfast\./, '')
  const facts = factsIn(event)
  const words = WORDS[type] ?? { subject: () => `${event.subject}: ${type.split('.').at(-1)!.replaceAll('_', ' ')}` }
  const subject = oneLine(words.subject(facts))
  const lines = [
    `${subject}.`,
    '',
    ...(facts.reason === null ? [] : [`Why: ${oneLine(facts.reason)}`]),
    ...(facts.by === null ? [] : [`Who: ${oneLine(facts.by)}`]),
    `When: ${shownTime(event.time)}`,
    `What: ${oneLine(event.subject)} (${type})`,
    ...(words.help ? ['', 'This helps:', '', `  ${oneLine(words.help(facts))}`] : []),
    '',
    '-- ',
    `Holdfast writes this because of the webhook ${webhook}. To end it: holdfast webhook delete ${webhook}`,
    '',
  ]
  return { subject: subject.slice(0, SUBJECT_CHARS_MAX), text: lines.join('\n') }
}

const SUBJECT_CHARS_MAX = 200

function factsIn({ data, subject }: EventBody): Facts {
  const id = subject.slice(subject.indexOf('/') + 1)
  const node = data['node'] as { name?: unknown; uuid?: unknown } | string | null | undefined
  const machine = typeof node === 'object' && node !== null ? (wordIn(node.name) ?? wordIn(node.uuid)) : wordIn(node)
  const end = ['until', 'expires_at', 'end_date', 'end_at', 'end'].map(name => data[name]).find(isTime)
  const reason = wordIn(data['reason'])
  const by = wordIn((data['by'] as { user?: unknown } | undefined)?.user)
  return {
    name: wordIn(data['name']) ?? id,
    word: inCommand(wordIn(data['name']), id),
    on: machine === null ? '' : ` on ${machine}`,
    until: end === undefined ? null : shownTime(end),
    reason: reason !== null && reason in REASONS ? REASONS[reason]! : reason,
    by: wordIn(data['ending_by']) ?? (by === 'conductor' ? null : by),
  }
}

const wordIn = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
const isTime = (value: unknown): value is string | number =>
  (typeof value === 'string' || typeof value === 'number') && !Number.isNaN(new Date(value).getTime())
const shownTime = (time: string | number) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Names and reasons come from clients: none may add a line of its own. */
const oneLine = (text: string) => text.replaceAll(/\p{Cc}+/gu, ' ').trim()
