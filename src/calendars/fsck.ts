// The invariants of calendars.
import { count, type Invariants } from '../store/fsck.ts'

export const calendarInvariants: Invariants = {
  'a calendar has the hash of a token, and shows what there can be': count(`
    select 1 from calendars where length(token_hash) < 43 or kind not in ('user', 'project', 'node') or whose = ''
      or auth not in ('none', 'noauth2', 'password', 'keystone')`),
}
