// Who may do what with leases. They belong to a project, and other projects don't see them. Hosts are for operators.

const PROJECT_READERS = 'admin or service or project reader'
const PROJECT_MEMBERS = 'admin or service or project member'

export const reservationPolicy = {
  // Sees the leases of every project.
  'blazar:leases:list_all': 'admin or service',
  'blazar:leases:list': 'reader or service',
  'blazar:leases:get': PROJECT_READERS,
  'blazar:leases:post': 'member or service',
  // Brings a lease from another service: for any project and user, and with the ids of its reservations.
  'blazar:leases:move': 'admin',
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

/** With this permission, the refusal of a lease that doesn't fit names single hosts and their bookings. */
export const SEES_HOSTS = 'blazar:oshosts:get_allocations' satisfies ReservationAction

export type ReservationAction = keyof typeof reservationPolicy
