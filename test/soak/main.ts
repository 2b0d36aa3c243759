// npm run soak: everything at once on each store, and whether memory, descriptors, files and latencies stay as they are.
import { parseArgs } from 'node:util'
import type { Kind } from '../support/stores.ts'
import type { Verdict } from './flat.ts'
import { soak } from './soak.ts'

const HELP = `npm run soak -- [options]
  --minutes N      how long, for each store (default 30)
  --store NAME     sqlite, postgres or all (default all)
  --pause MS       about how long each client rests between two requests (default 50)
  --every SECONDS  how often it is measured (default 5)
  --all            print every figure, not only memory, descriptors, WAL, latencies and what isn't flat`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    store: { type: 'string', default: 'all' },
    pause: { type: 'string', default: '50' },
    every: { type: 'string', default: '5' },
    all: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const stores = (['sqlite', 'postgres'] as Kind[]).filter(kind => values.store === 'all' || values.store === kind)
const [minutes, pauseMs, everySeconds] = [values.minutes, values.pause, values.every].map(Number) as [
  number,
  number,
  number,
]
if (values.help || stores.length === 0 || !(minutes > 0 && pauseMs > 0 && everySeconds > 0)) {
  console.error(HELP)
  process.exit(values.help ? 0 : 2)
}

const round = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1))
const isShown = ({ name, isFlat }: Verdict) => values.all || !isFlat || !/^(rows in|MiB of)/.test(name)

let isGood = true
for (const store of stores) {
  const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`))
  const { verdicts, kept, changes, heard, faults } = await soak({
    store,
    seconds: minutes * 60,
    everySeconds,
    pauseMs,
    progress,
  })
  progress('')
  const { deliveries, events, boards } = heard
  console.log(
    `${store}, ${minutes} minutes: ${changes} changes, ${deliveries} deliveries, ${events} pieces of events, ${boards} of the board`,
  )
  console.table(
    verdicts.filter(isShown).map(({ name, first, last, growth, allowed, isFlat }) => ({
      what: name,
      first: round(first),
      last: round(last),
      'growth of the last two thirds': round(growth),
      allowed: round(allowed),
      flat: isFlat ? 'yes' : 'NO',
    })),
  )
  const grown = kept.filter(({ first, last }) => last > first)
  console.log(
    `kept as the settings say: ${grown.map(one => `${one.name} ${round(one.first)} → ${round(one.last)}`).join(', ')}`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`fault: ${fault}`)
  const steep = verdicts.filter(({ isFlat }) => !isFlat)
  console.log(`${verdicts.length - steep.length} of ${verdicts.length} are flat, ${faults.length} faults\n`)
  if (steep.length + faults.length > 0) isGood = false
}
// At once: the report of node:test, which some of our helpers load, is of no use here.
process.exit(isGood ? 0 : 1)
