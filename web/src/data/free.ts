// The one rule for what counts as free now.
import type { Machine } from '../../../src/client/status.ts'

/** Nobody has, holds or booked it, and it is offered. A booked machine is free for a while: it is counted apart. */
export const isFree = ({ state }: Pick<Machine, 'state'>): boolean => state === 'free'
