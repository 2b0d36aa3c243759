// holdfast export: a fleet as one document.
import { writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { Holdfast } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import { listed, onServer, type ServerFlags, serverCommand } from './client-command.ts'
import type { Word } from './command.ts'
import type { Kind } from './import/shape.ts'
import type { FileFormat } from './import/source.ts'
import { visible, writeDocument } from './output.ts'
import { terminal } from './terminal.ts'

interface ExportFlags extends ServerFlags {
  format?: FileFormat
  only?: string[]
  output?: string
}

export function addCommands(program: Command, { name, help }: Word): void {
  serverCommand(program, name, help, 'export -o fleet.yaml')
    .addOption(
      new Option('-f, --format <format>', 'of the document (default: by the end of its name, or yaml)').choices([
        'yaml',
        'json',
        'csv',
      ]),
    )
    .option('--only <kinds...>', 'nodes, providers or hosts; csv has only nodes', listed)
    .option('-o, --output <file>', 'write it here')
    .action(onServer(async (server, flags: ExportFlags) => exportFleet(server, flags)))
}

async function exportFleet(server: Holdfast, { format: named, only, output }: ExportFlags): Promise<void> {
  const { KINDS } = await import('./import/shape.ts')
  const { formatOf } = await import('./import/source.ts')
  const { presentOf } = await import('./import/present.ts')
  const { exportedFrom, textOf } = await import('./import/exported.ts')
  const format = named ?? (output === undefined ? 'yaml' : formatOf(output))
  const wrong = only?.find(kind => !KINDS.includes(kind as Kind))
  if (wrong !== undefined) throw new UsageError(`there are no ${wrong} to export; there are ${KINDS.join(', ')}`)
  if (format === 'csv' && only?.some(kind => kind !== 'nodes')) throw new UsageError('csv has only nodes')
  const kinds = new Set<Kind>(format === 'csv' ? ['nodes'] : ((only as Kind[] | undefined) ?? KINDS))
  const present = await presentOf(server, {
    kinds,
    leasable: true,
    traits: false,
    inFull: () => kinds.has('providers'),
  })
  const { document, secrets } = exportedFrom(present, kinds)
  write(textOf(document, format), output)
  if (secrets.length > 0) {
    terminal().stderr.write(`left out, since the server shows no secrets: ${visible(secrets.join(', '))}\n`)
  }
}

function write(text: string, output: string | undefined): void {
  if (output === undefined || output === '-') return writeDocument(text)
  try {
    writeFileSync(output, text)
  } catch (error) {
    throw new UsageError(`can't write ${output}: ${(error as Error).message}`, { cause: error })
  }
}
