// What is set about who gets in.

export type AuthMode = 'none' | 'noauth2' | 'password' | 'keystone'

/** Everyone is let in, and is whom they say. */
export const isOpen = (auth: AuthMode): boolean => auth === 'none' || auth === 'noauth2'

export interface IdentitySettings {
  readonly auth: AuthMode
  /** The file of our own users. */
  readonly users: string
  readonly tokenHours: number
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
