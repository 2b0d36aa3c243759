// Where the page of a machine is.
import type { Machine } from '../../../src/client/status.ts'

/** Its name, which people read in the address; its uuid where it has none, or one that a browser takes for a step back. */
const identOf = ({ name, uuid }: Pick<Machine, 'name' | 'uuid'>): string =>
  name === null || name === '.' || name === '..' ? uuid : name

/** For the router. */
export const machinePath = (machine: Pick<Machine, 'name' | 'uuid'>): string =>
  `/machine/${encodeURIComponent(identOf(machine))}`

export const machineHref = (machine: Pick<Machine, 'name' | 'uuid'>): string => `/ui${machinePath(machine)}`
