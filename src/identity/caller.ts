// The caller of a request, the same for every way to authenticate.

export interface Caller {
  readonly user: string
  readonly project: string | null
  readonly roles: ReadonlySet<string>
  /** The token is for the whole system instead of a project. */
  readonly systemScope: boolean
  /** The names of user and project, if the way to authenticate provides them. */
  readonly userName?: string
  readonly projectName?: string | null
}

/** In mode `none` everyone may do everything. */
export const ANYONE: Caller = {
  user: 'anyone',
  project: null,
  roles: new Set(['admin', 'service', 'member', 'reader']),
  systemScope: false,
}
