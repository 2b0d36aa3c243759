// Leases over our own compute slice: flavors and servers are in our tables, so nothing has to be told to anyone.
import type { LeaseCompute } from './port.ts'

export const ownCompute: LeaseCompute = {
  kind: 'own',
  begin: () => [],
  *changed() {},
}
