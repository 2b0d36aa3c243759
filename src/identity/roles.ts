// The roles, and which roles they imply, as in Keystone.

export const ROLES = ['admin', 'member', 'reader', 'service'] as const
export type Role = (typeof ROLES)[number]

const IMPLIED: Partial<Record<Role, Role>> = { admin: 'member', member: 'reader' }

/** These roles and all that they imply. */
export function withImplied(roles: Iterable<Role>): ReadonlySet<Role> {
  const all = new Set<Role>()
  for (let role of roles) {
    for (let next: Role | undefined = role; next; next = IMPLIED[role]) {
      all.add(next)
      role = next
    }
  }
  return all
}
