// The one image that there is: nothing is ever written to a disk from it, but clients can't make a server without one.

export const CIRROS = { id: 'c14405a4-0000-4000-8000-000000000001', name: 'cirros' }
