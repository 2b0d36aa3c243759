// The settings of authentication.

export type AuthMode = 'none' | 'noauth2' | 'password' | 'keystone'

/** Whether everyone gets in under any name, without a proof. */
export const isOpen = (auth: AuthMode): boolean => auth === 'none' || auth === 'noauth2'

export interface IdentitySettings {
  readonly auth: AuthMode
  /** The path of the users file. */
  readonly users: string
  readonly tokenHours: number
  /** With `nova` there is a service user, as whom we call it. */
  readonly compute: 'own' | 'nova' | 'off'
  readonly audit: 'on' | 'off'
  readonly keystoneUrl: string | null
  readonly keystoneUsername: string
  readonly keystonePassword: string | null
  readonly keystonePasswordFile: string | null
  readonly keystoneProject: string
  readonly keystoneUserDomain: string
  readonly keystoneProjectDomain: string
  readonly keystoneCacheSeconds: number
}
