// holdfast import: makes the server's fleet match the files.
import { createReadStream } from 'node:fs'
import { type Command, Option } from 'commander'
import { ApiError, type Holdfast, type Json } from '../../client/index.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { durationOf, onServer, type ServerFlags, serverCommand } from '../client-command.ts'
import type { Word } from '../command.ts'
import { CommandFailure, EXIT, type ExitCode, tell, verdictOn } from '../failures.ts'
import type { Applied } from './apply.ts'
import type { Fleet } from './document.ts'
import type { Mistake } from './mistake.ts'
import type { Question } from './present.ts'
import type { Kind } from './shape.ts'
import type { FileFormat } from './source.ts'
import type { Step } from './step.ts'
import { idOf } from '../names.ts'
import { printList, say } from '../output.ts'
import { terminal } from '../terminal.ts'

interface ImportFlags extends ServerFlags {
  format?: FileFormat
  dryRun?: boolean
  wait?: string
  bmcUsername?: string
  bmcPasswordFile?: string
}

export function addCommands(program: Command, { name, help }: Word): void {
  serverCommand(program, `${name} <files...>`, help, 'import fleet.yaml --dry-run')
    .addOption(
      new Option('-f, --format <format>', 'of the files (default: by the ends of their names, or yaml)').choices([
        'yaml',
        'json',
        'csv',
      ]),
    )
    .option('--dry-run', 'show what would be done, and do nothing')
    .option('--wait <duration>', 'for nodes to reach their states (default: as long as it takes)')
    .option('--bmc-username <name>', 'for BMCs whose username the files leave out (HOLDFAST_BMC_USERNAME)')
    .option('--bmc-password-file <file>', 'its first line is the password for BMCs without one (HOLDFAST_BMC_PASSWORD)')
    .action(onServer(async (server, files: string[], flags: ImportFlags) => importFleet(server, files, flags)))
}

async function importFleet(server: Holdfast, files: readonly string[], flags: ImportFlags): Promise<void> {
  const waitMs = flags.wait === undefined ? null : durationOf(flags.wait)
  const { fleet, mistakes } = await read(files, flags.format)
  await addLogins(fleet, flags)
  const unknown = await resolveProjects(server, fleet)
  const { plan, stepsOf, clashes } = await planned(server, fleet, mistakes)
  await refuse([...mistakes, ...unknown, ...clashes], files)
  const steps = stepsOf(plan)
  if (flags.dryRun) return show(steps)
  const { apply, workIn } = await import('./apply.ts')
  const { Progress } = await import('./progress.ts')
  const progress = new Progress(workIn(plan))
  let outcome: Applied
  try {
    outcome = await apply(server, plan, { progress, waitMs })
  } finally {
    progress.clear()
  }
  summarize(steps, outcome)
}

/** Gives BMCs a login where the files have none, so that passwords needn't be in them. */
async function addLogins({ nodes }: Fleet, flags: ImportFlags): Promise<void> {
  const { HOLDFAST_BMC_USERNAME, HOLDFAST_BMC_PASSWORD } = terminal().env
  const { bmcUsername = HOLDFAST_BMC_USERNAME, bmcPasswordFile: file } = flags
  const { FILE_BYTES_MAX } = await import('./source.ts')
  const password =
    file === undefined ? HOLDFAST_BMC_PASSWORD : (await textIn(file, FILE_BYTES_MAX)).split(/\r?\n/, 1)[0]!
  const login = { username: bmcUsername || null, password: password || null }
  if (login.username === null && login.password === null) return
  const { loginFor } = await import('./bmc.ts')
  for (const { bmc, takesLogin, members } of nodes) {
    const info = (members['driver_info'] ?? {}) as Json
    if (bmc !== null && takesLogin) members['driver_info'] = { ...info, ...loginFor(info, bmc, login) }
  }
}

/** Puts the ids of projects in the place of their names. A project that isn't there is a mistake. */
async function resolveProjects(server: Holdfast, { nodes }: Fleet): Promise<Mistake[]> {
  const known = new Map<string, Promise<string | ApiError>>()
  const find = (word: string) =>
    known.getOrInsertComputed(word, () =>
      idOf(server, 'project', word).catch((error: unknown) => {
        if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return error
        throw error
      }),
    )
  const mistakes: Mistake[] = []
  for (const { at, members } of nodes) {
    for (const name of ['owner', 'lessee']) {
      const word = members[name]
      if (typeof word !== 'string' || word === '') continue
      const found = await find(word)
      if (typeof found === 'string') members[name] = found
      else mistakes.push({ place: at(name), says: found.message, isClash: true })
    }
  }
  return mistakes
}

function show(steps: readonly Step[]): void {
  const outline = (fields: readonly string[]) => [...new Set(fields.map(field => field.split('.', 1)[0]!))]
  const rows = steps.map(({ action, kind, name, fields }) => ({
    action,
    kind,
    name,
    fields: action === 'create' ? outline(fields) : fields,
  }))
  printList(rows, ['action', 'kind', 'name', 'fields'], { format: 'table' })
  const count = (action: Step['action']) => steps.filter(step => step.action === action).length
  say(
    `${count('create')} to create, ${count('change')} to change, ${count('unchanged')} unchanged; nothing was changed`,
  )
}

async function read(files: readonly string[], format: FileFormat | undefined) {
  const { formatOf, sourceOf, FILE_BYTES_MAX } = await import('./source.ts')
  const { readFleet } = await import('./document.ts')
  const read = []
  for (const file of files) read.push(sourceOf(file, await textIn(file, FILE_BYTES_MAX), format ?? formatOf(file)))
  const { fleet, mistakes } = readFleet(read.flatMap(({ source }) => source ?? []))
  return { fleet, mistakes: [...read.flatMap(({ mistakes }) => mistakes), ...mistakes] }
}

async function textIn(file: string, bytesMax: number): Promise<string> {
  const name = file === '-' ? 'standard input' : file
  const chunks: Buffer[] = []
  try {
    let bytes = 0
    for await (const chunk of file === '-' ? terminal().stdin : createReadStream(file)) {
      bytes += (chunk as Buffer).length
      if (bytes > bytesMax) throw new UsageError(`${name} is larger than ${bytesMax / 1024 / 1024} MiB`)
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`can't read ${name}: ${(error as Error).message}`, { cause: error })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    throw new UsageError(`${name} is no UTF-8 text`, { cause: error })
  }
}

/** Plans even if the file has mistakes, so that its author sees all mistakes at once. */
async function planned(server: Holdfast, fleet: Fleet, mistakes: readonly Mistake[]) {
  const { presentOf, NOTHING } = await import('./present.ts')
  const { planOf, stepsOf } = await import('./plan.ts')
  try {
    const present = await presentOf(server, questionFor(fleet))
    const { plan, mistakes: clashes } = planOf(present, fleet)
    return { plan, stepsOf, clashes }
  } catch (error) {
    if (mistakes.length === 0 || verdictOn(error) === null) throw error
    return { plan: planOf(NOTHING, { nodes: [], providers: [], hosts: [] }).plan, stepsOf, clashes: [] }
  }
}

function questionFor({ nodes, providers, hosts }: Fleet): Question {
  const kinds = new Set<Kind>([
    ...(nodes.length > 0 ? ['nodes' as const] : []),
    ...(providers.length > 0 ? ['providers' as const] : []),
    ...(hosts.length > 0 ? ['hosts' as const] : []),
  ])
  const uuids = new Set(providers.map(({ uuid }) => uuid))
  const names = new Set([...providers, ...hosts].map(({ name }) => name))
  return {
    kinds,
    leasable: nodes.some(({ leasable }) => leasable !== null),
    traits: providers.length > 0 || nodes.some(({ traits }) => traits?.some(name => !name.startsWith('CUSTOM_'))),
    inFull: ({ uuid, name }) => uuids.has(uuid) || names.has(name),
  }
}

/** Enough to fix a file, without endless output if it was the wrong file. */
const MISTAKES_SHOWN_MAX = 1_000

async function refuse(mistakes: readonly Mistake[], files: readonly string[]): Promise<void> {
  if (mistakes.length === 0) return
  const { inOrder, mistakeText } = await import('./mistake.ts')
  const exitCode: ExitCode = mistakes.every(({ isClash }) => isClash) ? EXIT.conflict : EXIT.usage
  for (const one of inOrder(mistakes, files).slice(0, MISTAKES_SHOWN_MAX)) {
    tell({ exitCode, message: mistakeText(one), hint: null })
  }
  const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`
  const unshown = mistakes.length > MISTAKES_SHOWN_MAX ? `, of which ${MISTAKES_SHOWN_MAX} are shown` : ''
  throw new CommandFailure(exitCode, `${count}${unshown}; nothing was changed`)
}

function summarize(steps: readonly Step[], { failures, untried }: Applied): void {
  const done = (action: Step['action']) =>
    steps.filter(step => step.action === action && !failures.has(step) && !untried.has(step)).length
  const counts = [`${done('create')} created`, `${done('change')} changed`, `${done('unchanged')} unchanged`]
  if (failures.size > 0) counts.push(`${failures.size} failed`)
  if (untried.size > 0) counts.push(`${untried.size} not tried`)
  say(counts.join(', '))
  const told = steps
    .filter(step => failures.has(step))
    .map(step => {
      const { exitCode, message, hint } = verdictOn(failures.get(step))!
      return new CommandFailure(exitCode, `${step.kind} ${step.name}: ${message}`, hint)
    })
  for (const failure of told.slice(0, -1)) tell(failure)
  if (told.length > 0) throw told.at(-1)!
}
