// Failed machines, put together by what went wrong, with the verb that helps.
import type { Machine } from '../../../../src/client/status.ts'

/** What a conductor failed at, by the state that this left. */
const STEPS: Readonly<Record<string, string>> = {
  'clean failed': 'clean',
  'deploy failed': 'deploy',
  'inspect failed': 'inspect',
  'adopt failed': 'adopt',
  'rescue failed': 'rescue',
  'unrescue failed': 'unrescue',
  'service failed': 'service',
  error: 'undeploy',
}

/** The verb that helps, for each step that failed; the first that the caller may use. */
const HELP: Readonly<Record<string, readonly string[]>> = {
  clean: ['manage'],
  deploy: ['undeploy', 'deploy'],
  inspect: ['manage', 'inspect'],
  adopt: ['adopt', 'manage'],
  rescue: ['rescue', 'unrescue'],
  unrescue: ['unrescue', 'rescue'],
  service: ['abort', 'manage'],
  undeploy: ['undeploy'],
}

export interface Failure {
  /** Such as `clean`; null if a machine is broken without a failed step. */
  step: string | null
  error: string | null
  machines: Machine[]
  /** The verb that all of them take, if the caller may use it. */
  verb: string | null
}

const failedStep = ({ provision }: Machine): string | null => STEPS[provision] ?? null

/** The largest groups first. */
export function failuresIn(machines: readonly Machine[]): Failure[] {
  const groups = Map.groupBy(
    machines.filter(({ state }) => state === 'broken'),
    machine => JSON.stringify([failedStep(machine), machine.error]),
  )
  return [...groups.values()]
    .map(some => {
      const step = failedStep(some[0]!)
      return { step, error: some[0]!.error, machines: some, verb: helpFor(step, some) }
    })
    .sort((a, b) => b.machines.length - a.machines.length)
}

/** The verb that helps one machine. */
export const helpOf = (machine: Machine): string | null => helpFor(failedStep(machine), [machine])

function helpFor(step: string | null, machines: readonly Machine[]): string | null {
  const verbs = step === null ? [] : (HELP[step] ?? [])
  return verbs.find(verb => machines.every(({ may }) => may.includes(verb))) ?? null
}

export interface Reason {
  reason: string | null
  machines: Machine[]
}

/** Machines in maintenance by their reason. */
export function maintenanceIn(machines: readonly Machine[]): Reason[] {
  const groups = Map.groupBy(
    machines.filter(({ maintenance }) => maintenance),
    ({ reason }) => reason,
  )
  return [...groups]
    .map(([reason, some]) => ({ reason, machines: some }))
    .sort((a, b) => b.machines.length - a.machines.length)
}
