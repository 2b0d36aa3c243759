// The invariants of quotas: a limit of a name that nobody knows holds nobody back.
import { count, type Invariants } from '../store/fsck.ts'
import { COUNTED, LONGEST, NODES_OF } from './limits.ts'

const NAMES = [...COUNTED, ...LONGEST].map(name => `'${name}'`).join(', ')

export const quotaInvariants: Invariants = {
  'a limit has a name that there is, and is not below none': count(`
    select 1 from quotas where max < -1 or (name not in (${NAMES}) and name not like '${NODES_OF}_%')`),
}
