// The table of quotas.

export interface QuotaTables {
  quotas: {
    /** '' for what holds for all projects that have no limit of their own. */
    project_id: string
    name: string
    /** -1 for none. */
    max: number
  }
}
