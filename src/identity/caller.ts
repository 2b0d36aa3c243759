// Who makes a request, whatever way they proved it.

export interface Caller {
  readonly user: string
  readonly project: string | null
  readonly roles: ReadonlySet<string>
  /** A token for the whole system instead of a project. */
  readonly systemScope: boolean
  /** What people call user and project, where the way of proving tells it. */
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
