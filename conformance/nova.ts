// npm run conformance -- nova: a real Nova on Holdfast, without work-arounds, on each store.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { audit } from './nova/audit.ts'
import { boots, toCapacity, twentyAtOnce } from './nova/boots.ts'
import { leasedEvacuation, leasedMoves, natural } from './nova/leases.ts'
import { ironicLife, ironicRestarts, ironicShared } from './nova/ironic.ts'
import { leftovers, sweep } from './nova/leftovers.ts'
import { evacuate, liveMigration, moves, shelve } from './nova/moves.ts'
import { outages, remade } from './nova/outages.ts'
import { restarts } from './nova/restarts.ts'
import { Rig, type Scenario } from './nova/rig.ts'
import { fail, storesNamed } from './options.ts'
import type { StoreName } from './stores.ts'

const HELP = `npm run conformance -- nova [options]
  --rig DIR       the folder with setup.sh, start.sh and stop.sh (or HOLDFAST_NOVA_RIG)
  --store NAME    sqlite (one process), postgres (two APIs, two conductors) or all (default all)
  --only NAME     only the scenarios whose names have this in them (repeatable)
  --reuse         use Nova's databases of the last run again, which is quicker
  --keep          let everything run at the end until ctrl-C, to look at it
  -v              print the whole error of a scenario`

const SCENARIOS: readonly Scenario[] = [
  boots,
  remade,
  ...outages,
  twentyAtOnce,
  toCapacity,
  moves,
  liveMigration,
  evacuate,
  shelve,
  audit,
  restarts,
  natural,
  leasedMoves,
  leasedEvacuation,
  ironicLife,
  ironicShared,
  ironicRestarts,
]

const USUAL_PLACE = fileURLToPath(new URL('../../shared/conformance/nova', import.meta.url))

const options = read()
const scripts = resolve(options.rig)
if (!existsSync(join(scripts, 'setup.sh'))) fail(`${scripts} has no setup.sh: name its folder with --rig DIR.`)
if (!existsSync('/usr/bin/nova-compute')) fail('Nova is needed: conformance/README.md says which packages.')
const chosen = SCENARIOS.filter(
  ({ name }) => options.only.length === 0 || options.only.some(word => name.includes(word)),
)
if (chosen.length === 0) fail(`no scenario is called so; there are: ${SCENARIOS.map(({ name }) => name).join(', ')}`)

let isGood = true
for (const store of options.stores) {
  isGood = (await runOn(store)) && isGood
}
process.exit(isGood ? 0 : 1)

function read() {
  try {
    const { values } = parseArgs({
      allowPositionals: true,
      options: {
        rig: { type: 'string', default: process.env['HOLDFAST_NOVA_RIG'] ?? USUAL_PLACE },
        store: { type: 'string', default: 'all' },
        only: { type: 'string', multiple: true, default: [] },
        reuse: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        verbose: { type: 'boolean', short: 'v', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) fail(HELP, 0)
    return { ...values, stores: storesNamed(values.store) }
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${HELP}`)
  }
}

async function runOn(store: StoreName): Promise<boolean> {
  const began = performance.now()
  const rig = await Rig.open({ scripts, store, reuse: options.reuse })
  let failed = 0
  try {
    if (options.reuse) await sweep(rig)
    row(store, 'set up', began, [])
    for (const scenario of chosen) failed += (await runOne(rig, scenario)) ? 0 : 1
    const bad = rig.requests.filter(({ status }) => status >= 500)
    for (const { method, url, status, answer } of bad)
      console.log(`    ${status} ${method} ${url}: ${answer.slice(0, 200)}`)
    const away = rig.requests.filter(({ status }) => status === 0).length
    console.log(
      `${store}: ${chosen.length - failed} of ${chosen.length} scenarios, ${rig.requests.length} requests to Holdfast ` +
        `(${bad.length} were 5xx, ${away} came while it was down), ${seconds(began)} s`,
    )
    return failed === 0 && bad.length === 0
  } finally {
    if (options.keep) await toldToEnd()
    await rig.close()
  }
}

/** Holdfast and the proxy belong to this process, so they run as long as it does. */
async function toldToEnd(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  process.once('SIGINT', resolve)
  // A signal alone keeps no process alive.
  const alive = setInterval(() => {}, 60_000)
  console.log(`everything runs on, ${process.pid} waits for ctrl-C`)
  await promise
  clearInterval(alive)
}

/** Whether the scenario ran to its end and left nothing. */
async function runOne(rig: Rig, scenario: Scenario): Promise<boolean> {
  const began = performance.now()
  const wrong: string[] = []
  try {
    await scenario.run(rig)
  } catch (error) {
    wrong.push(said(error))
  }
  wrong.push(...(await leftovers(rig).catch(error => [said(error)])))
  row(rig.store, scenario.name, began, wrong)
  if (wrong.length > 0) await sweep(rig).catch(error => console.log(`    sweeping: ${said(error)}`))
  return wrong.length === 0
}

function row(store: string, name: string, began: number, wrong: readonly string[]): void {
  console.log(
    `${store.padEnd(9)} ${name.padEnd(36)} ${seconds(began).padStart(5)} s  ${wrong.length === 0 ? 'ok' : 'FAILED'}`,
  )
  for (const one of wrong) console.log(`    ${one}`)
}

function seconds(began: number): string {
  return ((performance.now() - began) / 1_000).toFixed(0)
}

function said(error: unknown): string {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return options.verbose ? (stack ?? message) : message.slice(0, 1_000)
}
