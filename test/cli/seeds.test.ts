// Every command line that the specifications name, typed in a row by someone at a narrow terminal, at a wide one, and piped.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { widthOf } from '../../src/cli/width.ts'
import { Placement } from '../support/placement.ts'
import { atShell, type Person } from './person.ts'

interface Step {
  types: string
  shows: RegExp[]
  code?: number
}

/** Each session has its own. Names are long, as they are where there are many. */
const thingsOf = (session: string) => ({
  red: `rack-3-red-gpu-${session}.example.org`,
  blue: `rack-3-blue-gpu-${session}.example.org`,
  job: `training-job-${session}`,
  lease: `week-${session}`,
  kind: `kind-${session}`,
  uuid: crypto.randomUUID(),
  consumer: crypto.randomUUID(),
  other: crypto.randomUUID(),
})

type Things = ReturnType<typeof thingsOf>

/** In a table or on a sheet, this as a word of its own: names are never cut. */
const whole = (name: string) => new RegExp(`(^|\\s)${RegExp.escape(name)}(\\s|$)`, 'm')
const without = (name: string) => new RegExp(`^(?![^]*${RegExp.escape(name)})`)

const traits = ({ red, blue, kind }: Things): Step[] => [
  { types: `node add trait ${red} CUSTOM_FOO CUSTOM_BAR`, shows: [/has CUSTOM_FOO, CUSTOM_BAR/] },
  { types: `node trait list ${red}`, shows: [/CUSTOM_BAR\s+CUSTOM_FOO/] },
  { types: 'node list --fields uuid name traits', shows: [whole(red), /CUSTOM_BAR/] },
  { types: `node show ${red} --fields uuid name traits`, shows: [/^traits +CUSTOM_BAR, CUSTOM_FOO$/m] },
  { types: `node remove trait ${red} CUSTOM_FOO CUSTOM_BAR`, shows: [/has no CUSTOM_FOO, CUSTOM_BAR/] },
  { types: `node remove trait --all ${blue}`, shows: [/has no traits/] },
  { types: `node trait list ${blue}`, shows: [without('CUSTOM_')] },
  { types: `node add trait ${red} CUSTOM_RED`, shows: [/has CUSTOM_RED/] },
  { types: `node add trait ${blue} CUSTOM_BLUE`, shows: [/has CUSTOM_BLUE/] },
  {
    types: `node list --resource-class ${kind} --trait CUSTOM_RED --not-trait CUSTOM_BLUE`,
    shows: [whole(red), without(blue)],
  },
  {
    types: `node list --resource-class ${kind} --trait-any CUSTOM_RED CUSTOM_BLUE`,
    shows: [whole(red), whole(blue), whole('available')],
  },
  {
    types: `node list --resource-class ${kind} --not-trait-any CUSTOM_RED CUSTOM_BLUE`,
    shows: [without(red), without(blue)],
  },
  // The alternative that the specification turned down.
  { types: `node set --trait CUSTOM_FOO ${red}`, shows: [/^holdfast: unknown option '--trait'/], code: 2 },
  { types: `node unset --trait CUSTOM_FOO ${red}`, shows: [/^holdfast: unknown option '--trait'/], code: 2 },
]

const allocations = ({ red, job, kind, uuid }: Things): Step[] => [
  {
    types: `allocation create --resource-class ${kind} --trait CUSTOM_RED --trait CUSTOM_RED --uuid ${uuid} --name ${job} --wait`,
    shows: [/^state +active$/m, whole(uuid)],
  },
  { types: `allocation list --state active --resource-class ${kind} --node ${red}`, shows: [whole(job)] },
  { types: 'allocation list --fields uuid name state', shows: [whole(job)] },
  { types: `allocation get ${job} --fields uuid node_uuid`, shows: [whole(uuid)] },
  { types: `allocation get ${uuid}`, shows: [whole(job)] },
  { types: `allocation delete ${job}`, shows: [/is gone/] },
  { types: `allocation get ${job}`, shows: [/could not be found/], code: 3 },
]

const reservations = ({ blue, uuid }: Things): Step[] => [
  { types: `reservation-create ${blue} ${uuid}`, shows: [whole(uuid)] },
  { types: 'reservation-list', shows: [new RegExp(`^[0-9a-f-]{36} .* ${uuid.slice(0, 8)}`, 'm')] },
  { types: `reservation-show $(holdfast reservation-list --instance ${uuid} -f value -c uuid)`, shows: [whole(uuid)] },
  { types: `reservation-delete $(holdfast reservation-list --instance ${uuid} -f value -c uuid)`, shows: [/is gone/] },
]

const INSTANCES = 'resource_type=virtual:instance,vcpus=1,memory_mb=16,disk_gb=1,amount=1,affinity=False'

const leases = ({ lease }: Things): Step[] => [
  { types: 'host list', shows: [whole('compute-1.example.org')] },
  { types: `lease create ${lease} --for 2d --reservation ${INSTANCES}`, shows: [whole(lease)] },
  { types: 'lease list', shows: [whole(lease)] },
  { types: `lease show ${lease}`, shows: [/1 instance of 1 vCPU, 16 MB, 1 GB/] },
  { types: `lease update ${lease} --prolong-for 1h`, shows: [whole(lease)] },
  { types: `lease delete ${lease}`, shows: [/is gone/] },
]

/** One consumer's claim becomes another's at once, as a migration wants it; and the lists that are left. */
const claims = ({ consumer, other }: Things): Step[] => [
  { types: `claim set ${consumer} --allocation rp=compute-2.example.org,VCPU=2,MEMORY_MB=512`, shows: [/has what/] },
  { types: `claim move ${consumer} ${other}`, shows: [/has what/] },
  { types: `claim show ${other}`, shows: [/MEMORY_MB +512/] },
  { types: `claim show ${consumer}`, shows: [/has no claims/], code: 3 },
  { types: 'provider list', shows: [whole('compute-2.example.org')] },
  { types: 'candidate list --resource VCPU=2,MEMORY_MB=512', shows: [/VCPU=2, MEMORY_MB=512/] },
  { types: `claim delete ${other}`, shows: [/has nothing/] },
  { types: 'audit --limit 20', shows: [/ placement:\S* /] },
  { types: 'node list --long', shows: [/fake-hardware|no room for/] },
]

const stepsFor = (things: Things) =>
  [traits, allocations, reservations, leases, claims].flatMap(stepsOf => stepsOf(things))

atShell('holdfast as the specifications have it', person => {
  const surroundings = { narrow: 80, wide: 200, piped: null } as const

  before(async () => {
    const api = new Placement(person.origin)
    for (const name of ['compute-1.example.org', 'compute-2.example.org'])
      await api.provider({ VCPU: 32, MEMORY_MB: 16_384, DISK_GB: 100 }, { name })
    api.close()
    await (await person.library()).hosts.create('compute-1.example.org')
  })

  for (const [name, columns] of Object.entries(surroundings)) {
    test(columns === null ? 'piped' : `at ${columns} columns`, async () => {
      const things = thingsOf(name)
      for (const node of [things.red, things.blue]) await person.node(node, things.kind)
      const steps = stepsFor(things)
      const seen = await session(person, steps, columns)
      for (const [at, { types, shows, code = 0 }] of steps.entries()) {
        const { exitCode, shown } = seen[at]!
        const told = `${types}\n${shown}`
        assert.equal(exitCode, code, told)
        for (const one of shows) assert.match(shown, one, told)
        if (columns === null) assert.doesNotMatch(shown, /…/, told)
        else for (const line of shown.split('\n')) assert.ok(widthOf(line) <= columns, `${told}\n${line}`)
      }
    })
  }
})

/** Types all of it in a row; what each line showed, and its exit code. */
async function session(person: Person, steps: readonly Step[], columns: number | null) {
  const seen = []
  for (const { types } of steps) {
    const { code, shown } = await person.looksAt(await withAnswers(person, types), columns ?? undefined)
    if (columns === null) assert.ok(!shown.includes('\u001b'), 'nothing for terminals goes into a pipe')
    seen.push({
      exitCode: code,
      shown: stripVTControlCharacters(shown)
        .replaceAll(/\r+\n?/g, '\n')
        .trim(),
    })
  }
  return seen
}

/** As a shell does it: what is in $(…) becomes what it prints. */
async function withAnswers(person: Person, line: string): Promise<string> {
  const [all, inner] = /\$\(holdfast (.*)\)/.exec(line) ?? []
  return all === undefined ? line : line.replace(all, await person.reads(inner!))
}
