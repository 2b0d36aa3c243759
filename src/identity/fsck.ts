// The invariants of what logins need. Users and projects are in the users file, or in a Keystone.
import { count, type Invariants } from '../store/fsck.ts'

export const identityInvariants: Invariants = {
  'a key that signs tokens is long enough, and was retired after it was made': count(`
    select 1 from token_keys where length(secret) < 43 or retired_at < created_at`),
  'an application credential is someone’s, and has a secret': count(`
    select 1 from application_credentials where user_id = '' or user_name = '' or project_name = '' or secret = ''
      or unrestricted not in (0, 1) or is_open not in (0, 1) or expires_at < created_at`),
  'a name that was seen is of a user or a project': count(`
    select 1 from seen_names where kind not in ('user', 'project') or name = '' or id = ''`),
}
