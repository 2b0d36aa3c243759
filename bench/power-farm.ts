// BMCs in a process of their own, for the power bench. Told by its parent which of them hang, and asked which were read.
import { startBmcs } from '../test/support/bmc.ts'

/** What the parent says: let so many hang; forget what was read; say it. */
export type Order = { hang: number } | { forget: true } | { tell: true }

/** What it hears: where the BMCs are, or how often the system of each was read, and the requests of all. */
export type Word = { infos: object[] } | { reads: number[]; requests: number; logins: number }

const { bmcs } = await startBmcs(Number(process.argv[2]))

const forget = () => bmcs.forEach(({ requests }) => (requests.length = 0))

process.on('message', (order: Order) => {
  if ('hang' in order) bmcs.slice(bmcs.length - order.hang).forEach(bmc => bmc.fail({ kind: 'hang', times: Infinity }))
  if ('forget' in order) forget()
  if ('tell' in order) {
    const reads = bmcs.map(bmc => bmc.seen('GET', '/Systems/1').length)
    const requests = bmcs.reduce((sum, bmc) => sum + bmc.requests.length, 0)
    const logins = bmcs.reduce((sum, bmc) => sum + bmc.seen('POST', '/Sessions').length, 0)
    process.send!({ reads, requests, logins } satisfies Word)
  }
})
process.on('disconnect', () => process.exit())
process.send!({ infos: bmcs.map(bmc => bmc.driverInfo()) } satisfies Word)
