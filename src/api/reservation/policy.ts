// Who may do what with leases: they belong to a project, and those of others are not there. Hosts are the operators'.

const PROJECT_READERS = 'admin or service or project reader'
const PROJECT_MEMBERS = 'admin or service or project member'

export const reservationPolicy = {
  // Sees the leases of every project.
  'blazar:leases:list_all': 'admin or service',
  'blazar:leases:list': 'reader or service',
  'blazar:leases:get': PROJECT_READERS,
  'blazar:leases:post': 'member or service',
  'blazar:leases:put': PROJECT_MEMBERS,
  'blazar:leases:delete': PROJECT_MEMBERS,

  'blazar:oshosts:get': 'admin',
  'blazar:oshosts:post': 'admin',
  'blazar:oshosts:put': 'admin',
  'blazar:oshosts:delete': 'admin',
  'blazar:oshosts:get_allocations': 'admin',
  'blazar:oshosts:get_resource_properties': 'admin',
  'blazar:oshosts:update_resource_properties': 'admin',
}

/** Whoever may do this hears of single hosts, and of what is booked on them, where a lease doesn't fit. */
export const SEES_HOSTS = 'blazar:oshosts:get_allocations' satisfies ReservationAction

export type ReservationAction = keyof typeof reservationPolicy
