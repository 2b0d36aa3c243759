// A host of our own compute slice that goes down: its reservations move to where they fit.
import { expectStatus } from '../support/placement.ts'
import { eachReservation } from '../support/reservation.ts'
import { healingSuite } from './healing-suite.ts'

eachReservation('healing', api => {
  healingSuite(api, async (name, to) => {
    const service = { host: name, binary: 'nova-compute' }
    const change = to === 'disabled' ? 'disable' : 'enable'
    expectStatus(await api.compute.put(`/os-services/${change}`, service, { version: null }), 200)
    const state = to === 'down' ? 'down' : 'up'
    expectStatus(await api.operate('POST', '/hypervisor-state', { name, state }), 200, 202, 204)
    // Nothing is due, but when this returns all duties have looked.
    await api.advance(0)
  })
})
