// npm run bench: starts Holdfast, puts load on it, and prints its results beside the limits of the machine.
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { benchAllocations } from './allocations.ts'
import { benchAudit } from './audit.ts'
import { benchBytes } from './bytes.ts'
import { benchCandidates } from './candidates.ts'
import { benchClaims } from './claims.ts'
import { benchCluster } from './cluster.ts'
import { benchDashboard } from './dashboard.ts'
import { benchDoors } from './doors.ts'
import { benchEvents } from './events.ts'
import { benchFair } from './fair.ts'
import { benchGuard } from './guard.ts'
import { benchLeases } from './leases.ts'
import { benchLoad } from './load.ts'
import { benchMetal } from './metal.ts'
import { benchNova } from './nova.ts'
import { benchPlacement } from './placement.ts'
import { benchPower } from './power.ts'
import { benchStart } from './start.ts'
import { benchProviders } from './providers.ts'
import { benchStalls } from './stalls.ts'
import { benchStatus } from './status.ts'
import { readOptions, type BenchOptions } from './options.ts'
import { formatReport, type Report } from './report.ts'

const BENCHES: Record<string, (options: BenchOptions) => Promise<Report>> = {
  claims: benchClaims,
  candidates: benchCandidates,
  metal: benchMetal,
  allocations: benchAllocations,
  leases: benchLeases,
  nova: benchNova,
  doors: benchDoors,
  fair: benchFair,
  events: benchEvents,
  start: benchStart,
  status: benchStatus,
  audit: benchAudit,
  providers: benchProviders,
  power: benchPower,
  dashboard: benchDashboard,
  bytes: benchBytes,
  placement: benchPlacement,
  cluster: benchCluster,
  guard: benchGuard,
  load: benchLoad,
  stalls: benchStalls,
}
/** Only if they are named: one starts nine processes, the other looks at another tree as well. */
const ON_REQUEST = ['cluster', 'guard']

const { bench, names, json, markdown } = readOptions(Object.keys(BENCHES), ON_REQUEST)
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
