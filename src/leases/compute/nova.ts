// Leases over a Nova: what it should have is in our tables, and rows of nova_work say that someone has to bring it there.
import { wake } from '../../store/transaction.ts'
import { beginWork, renewWork } from '../nova/rows.ts'
import type { LeaseCompute } from './port.ts'

export const novaCompute: LeaseCompute = {
  kind: 'nova',
  begin: (told, now) => beginWork(told, now),
  *changed(told, now) {
    if (told.length === 0) return
    yield* renewWork(told, now)
    yield* wake('nova')
  },
}
