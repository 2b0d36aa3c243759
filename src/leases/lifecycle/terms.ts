// The terms of a reservation, as its row has them.
import { isReadable, jsonIn } from '../../shared/json.ts'
import { TERMS } from '../../store/schema/json-columns.ts'
import type { LeaseTables, Terms } from '../../store/schema/leases.ts'

type TermsRow = Pick<LeaseTables['lease_reservations'], 'terms' | 'resource_type'>

/** Under the lock of the lease, for what decides. */
export const termsIn = (row: TermsRow): Terms => jsonIn(row.terms, TERMS)

/** Where they can't be read, all of them are empty: a reservation is shown with what its row says. */
export const shownTerms = (row: TermsRow): Terms =>
  isReadable(row.terms, TERMS) ? termsIn(row) : NO_TERMS[row.resource_type]

const NO_FLAVOR = { id: '', name: '', ram_mb: 0, ephemeral_gb: 0, swap_mb: 0, rxtx_factor: 1, is_public: false }
const NO_SIZE = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
const NO_COUNT = { min: 0, max: 0 }
const NO_PROPERTIES = { hypervisor_properties: '', resource_properties: '' }
const NO_TERMS: { [Type in Terms['resource_type']]: Extract<Terms, { resource_type: Type }> } = {
  'virtual:instance': {
    resource_type: 'virtual:instance',
    ...NO_SIZE,
    amount: 0,
    affinity: null,
    resource_properties: '',
  },
  'flavor:instance': {
    resource_type: 'flavor:instance',
    flavor_id: '',
    amount: 0,
    affinity: null,
    flavor: { ...NO_FLAVOR, vcpus: 0, disk_gb: 0, extra_specs: {} },
    needs: { size: NO_SIZE, required: [], forbidden: [] },
  },
  'physical:host': { resource_type: 'physical:host', ...NO_COUNT, ...NO_PROPERTIES, before_end: '' },
  'physical:node': { resource_type: 'physical:node', ...NO_COUNT, resource_class: '', traits: [] },
}
