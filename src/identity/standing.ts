// What someone may do now who made something that outlives their token, such as a calendar.
import { ANYONE, type Caller } from './caller.ts'
import type { Directory } from './directory.ts'
import type { AuthMode } from './settings.ts'

/** Who made it, as they were known then. */
export interface Maker {
  readonly auth: AuthMode
  readonly user: string
  /** null for a token without a project. */
  readonly project: string | null
  readonly roles: readonly string[]
}

/** The maker with their present rights; null if they have none any more. */
export type Standing = (maker: Maker) => Caller | null

/** In another mode nobody knows who that was: a name in mode `none` proves nothing in mode `password`. */
export const inMode =
  (auth: AuthMode, standing: Standing): Standing =>
  maker =>
    maker.auth === auth ? standing(maker) : null

/** Where nobody can be asked, they keep the rights that they had then. */
export const asThen: Standing = ({ user, project, roles }) => ({
  user,
  project,
  roles: new Set(roles),
  systemScope: project === null,
})

export const asAnyone: Standing = ({ user, project }) => ({ ...ANYONE, user, project })

/** They have the roles of the directory, but none that they did not have then: a credential may have been for fewer. */
export const asIn =
  (directory: () => Directory): Standing =>
  maker => {
    const present = directory()
    const user = present.userWithId(maker.user)
    const project = maker.project === null ? null : present.projectWithId(maker.project)
    if (!user?.isEnabled || (maker.project !== null && !project)) return null
    const held: ReadonlySet<string> = project ? present.rolesOn(user, project) : present.systemRoles(user)
    const roles = held.intersection(new Set(maker.roles))
    if (roles.size === 0) return null
    return {
      user: user.id,
      userName: user.name,
      project: project?.id ?? null,
      projectName: project?.name ?? null,
      roles,
      systemScope: project === null,
    }
  }
