// The only image. It is never written to a disk, but clients can't create a server without an image.

export const CIRROS = { id: 'c14405a4-0000-4000-8000-000000000001', name: 'cirros' }
