// npm run failover: a PostgreSQL primary dies under load again and again, and its standby takes over.
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { makeWorld } from './load.ts'
import { Pair } from './pair.ts'
import { type End, ENDS, failOver, type Figures } from './round.ts'
import { startService } from './service.ts'

const HELP = `npm run failover -- [options]
  --times N        how many fail-overs (default 4)
  --postgres DIR   whose binaries to run, such as /usr/lib/postgresql/15 (default: those that npm installed)
  --end NAME       only this end of the primary: ${Object.keys(ENDS).join(', ')}
  --wait MS        the longest time from the end of the primary until the promotion (default 1000)`

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '4' },
    postgres: { type: 'string' },
    end: { type: 'string' },
    wait: { type: 'string', default: '1000' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const times = Number(values.times)
const ends = (Object.keys(ENDS) as End[]).filter(end => values.end === undefined || values.end === end)
const isGood = times >= 1 && ends.length > 0 && Number(values.wait) >= 0
if (values.postgres !== undefined && !existsSync(`${values.postgres}/bin/postgres`)) {
  console.error(`there is no ${values.postgres}/bin/postgres`)
  process.exit(2)
}
if (values.help || !isGood) {
  console.error(HELP)
  process.exit(values.help ? 0 : 2)
}

const all: Figures[] = []
const pair = await Pair.start(values.postgres === undefined ? {} : { native: values.postgres })
try {
  await pair.primary.createDatabase('holdfast')
  const service = await startService(pair.url('holdfast'))
  try {
    const world = await makeWorld(service.apis[0]!.origin)
    for (let round = 0; round < times; round++) {
      if (round > 0) await pair.addStandby()
      const waitMs = Math.round(Math.random() * Number(values.wait))
      const end = ends[round % ends.length]!
      const figures = await failOver({ pair, service, world, database: 'holdfast' }, end, round + 1, waitMs)
      all.push(figures)
      console.log(line(round + 1, figures, waitMs))
      for (const fault of figures.faults.slice(0, 20)) console.log(`    ${fault}`)
    }
  } finally {
    await service.stop()
  }
} finally {
  await pair.stop()
}
summarise()
// At once: the report of node:test, which some of our helpers load, is of no use here.
process.exit()

function line(round: number, { end, claimMs, allocationMs, leaseMs, counts, faults }: Figures, waitMs: number): string {
  const { answered, refused, away, unsure } = counts
  const asked = `${answered} answered, ${refused} refused, ${away} told to come back, ${unsure} unsure`
  const times = `claims again after ${ms(claimMs.fromEnd)} (${ms(claimMs.fromPromotion)} after the promotion)`
  const later = `allocations ${ms(allocationMs)}, leases ${ms(leaseMs)}`
  const noticed = `promoted after ${waitMs} ms`
  return `${round}. ${end}, ${noticed}: ${asked}; ${times}, ${later}; ${faults.length} faults`
}

function ms(value: number): string {
  return `${Math.round(value)} ms`
}

function summarise(): void {
  const sum = (name: keyof Figures['counts']) => all.reduce((total, { counts }) => total + counts[name], 0)
  const sorted = all.map(({ claimMs }) => claimMs.fromPromotion).sort((a, b) => a - b)
  const faults = all.reduce((total, one) => total + one.faults.length, 0)
  console.log(
    `${all.length} fail-overs: ${sum('answered')} changes answered, ${sum('unsure')} unsure, ${faults} faults; ` +
      `claims again after the promotion: median ${ms(sorted[Math.floor(sorted.length / 2)]!)}, longest ${ms(sorted.at(-1)!)}`,
  )
  process.exitCode = faults === 0 ? 0 : 1
}
