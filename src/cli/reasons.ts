// Prints why an allocation gets no node, and what a new one would get.
import type { Forecast, Reasons } from '../client/index.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { type OutputFlags, printList, printOne, say } from './output.ts'

/** Causes that read badly behind a number. */
const WORDS: Record<string, string> = {
  maintenance: 'in maintenance',
  claimed: 'claimed through Placement',
  'no power state': 'without a power state',
  busy: 'busy for a moment: try again',
  'missing traits': 'without',
  leasable: 'kept for leases',
  'not a candidate': 'not among the candidates',
}

const countedIn = ({ causes }: Reasons) =>
  causes
    .map(({ cause, count, traits }) => `${count} ${WORDS[cause] ?? cause}${traits ? ` ${traits.join(' and ')}` : ''}`)
    .join(', ')

export function causesIn(reasons: Reasons): string {
  const { resource_class, considered, available } = reasons
  if (considered === 0) return `there is none of class ${resource_class}`
  return `${considered} of class ${resource_class}: ${[...(available > 0 ? [`${available} free`] : []), countedIn(reasons)].filter(Boolean).join(', ')}`
}

export function relaxationIn({ relaxations: [first] }: Reasons): string | null {
  if (!first) return null
  const { traits = [], candidate_nodes } = first.without
  const left = [...traits, ...(candidate_nodes ? ['the list of candidates'] : [])]
  return `without ${left.join(' and ')} there ${first.nodes === 1 ? 'is 1' : `are ${first.nodes}`}`
}

/** What stood in the way, of the words that programs look for, as in Ironic: `Failed to process …: no … match …. What.` */
export const causeIn = (lastError: string) =>
  lastError.replace(/^Failed to process allocation \S+: (?:.*?\. (?=.))?/, '')

export const CAUSE_COLUMNS = ['cause', 'count', 'traits', 'sample']

export const causeRows = ({ available, causes }: Reasons) => [
  ...(available > 0 ? [{ cause: 'free', count: available, traits: [], sample: [] }] : []),
  ...causes.map(({ cause, count, traits = [], sample }) => ({
    cause,
    count,
    traits,
    sample: sample.map(({ name, uuid }) => name ?? uuid),
  })),
]

/** Prints the nodes that would fit. Fails without any, as the allocation itself would. */
export function printForecast(forecast: Forecast, flags: OutputFlags): void {
  const { fits, count, nodes, reasons, promised } = forecast
  if (flags.format === 'json' || flags.format === 'yaml') printOne({ ...forecast }, flags)
  else if (fits) {
    const more = count > nodes.length ? `, ${nodes.length} of them here` : ''
    if (flags.format === 'table') say(count === 1 ? 'It would get this node:' : `It would get one of ${count}${more}:`)
    printList(nodes, ['uuid', 'name'], flags)
  } else if (reasons && (reasons.considered > 0 || flags.format !== 'table')) {
    printList(causeRows(reasons), CAUSE_COLUMNS, flags)
  }
  if (fits || !reasons) return
  const queue = promised > 0 ? '; others wait for those that are free' : ''
  throw new CommandFailure(EXIT.conflict, `it would get no node: ${causesIn(reasons)}${queue}`, relaxationIn(reasons))
}
