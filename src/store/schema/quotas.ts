// The table of quotas.

export interface QuotaTables {
  quotas: {
    /** '' for the default of all projects that have no limit of their own. */
    project_id: string
    name: string
    /** -1 for no limit. */
    max: number
  }
}
