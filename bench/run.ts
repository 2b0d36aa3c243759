// npm run bench: starts Holdfast, puts load on it, and prints its results beside the limits of the machine.
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { benchAllocations } from './allocations.ts'
import { benchCandidates } from './candidates.ts'
import { benchClaims } from './claims.ts'
import { benchDashboard } from './dashboard.ts'
import { benchDoors } from './doors.ts'
import { benchEvents } from './events.ts'
import { benchLeases } from './leases.ts'
import { benchMetal } from './metal.ts'
import { benchPower } from './power.ts'
import { benchStatus } from './status.ts'
import { readOptions, type BenchOptions } from './options.ts'
import { formatReport, type Report } from './report.ts'

const BENCHES: Record<string, (options: BenchOptions) => Promise<Report>> = {
  claims: benchClaims,
  candidates: benchCandidates,
  metal: benchMetal,
  allocations: benchAllocations,
  leases: benchLeases,
  doors: benchDoors,
  events: benchEvents,
  status: benchStatus,
  power: benchPower,
  dashboard: benchDashboard,
}

const { bench, names, json, markdown } = readOptions(Object.keys(BENCHES))
const machine = {
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  node: process.version,
  sqlite: process.versions['sqlite'] ?? '',
  loadBefore: (loadavg()[0] ?? 0).toFixed(1),
}
console.log(
  `${machine.cores} × ${machine.cpu}, Node ${machine.node}, SQLite ${machine.sqlite}, load ${machine.loadBefore} before; ` +
    `median of ${bench.rounds} × ${bench.seconds} s\n`,
)
if (Number(machine.loadBefore) > machine.cores / 2) console.log('The machine is busy: repeat this when it is quiet.\n')
const reports: Record<string, Report> = {}
for (const name of names) {
  const report = await BENCHES[name]?.(bench)
  if (report === undefined) continue
  bench.progress('')
  reports[name] = report
  console.log(`${formatReport(report, markdown)}\n`)
}
if (json !== undefined) {
  const { seconds, rounds, stores } = bench
  const date = new Date().toISOString()
  writeFileSync(json, `${JSON.stringify({ date, machine, seconds, rounds, stores, reports }, null, 2)}\n`)
}
process.exitCode = Object.values(reports).some(report => report.faults.length > 0) ? 1 : 0
