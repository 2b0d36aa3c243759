// Writes a small ISO 9660 volume, with Joliet names beside the plain ones: Linux and Windows show names as they were
// given.

const SECTOR = 2_048
/** The sectors before the first descriptor belong to whoever boots. */
const SYSTEM_SECTORS = 16

export type Files = ReadonlyMap<string, Buffer>

interface Folder {
  name: string
  parent: Folder
  folders: Folder[]
  files: { name: string; extent: Extent }[]
}

/** Where something is, in sectors, and how long it is, in bytes. */
interface Extent {
  at: number
  bytes: number
}

/** How a descriptor's tree spells names. */
interface Spelling {
  type: 1 | 2
  file: (name: string) => Buffer
  folder: (name: string) => Buffer
  text: (value: string, bytes: number) => Buffer
}

const ascii = (value: string, bytes: number) => Buffer.from(value.padEnd(bytes).slice(0, bytes), 'latin1')
const ucs2 = (value: string) => Buffer.from(value, 'utf16le').swap16()

const PLAIN: Spelling = {
  type: 1,
  file: name => Buffer.from(`${name.includes('.') ? name : `${name}.`};1`.toUpperCase(), 'latin1'),
  folder: name => Buffer.from(name.toUpperCase(), 'latin1'),
  text: ascii,
}
const JOLIET: Spelling = {
  type: 2,
  file: name => ucs2(`${name};1`),
  folder: ucs2,
  text: (value, bytes) => ucs2(value.padEnd(bytes / 2).slice(0, bytes / 2)),
}

/** The volume as bytes. Paths are relative, with slashes. The same files always give the same bytes. */
export function isoOf(label: string, files: Files): Buffer {
  const root = treeOf(files)
  const folders = inLevels(root)
  // Two descriptors and their end; then for each spelling two path tables and a sector for each folder.
  const trees = [PLAIN, JOLIET].map((spelling, index) => {
    const at = SYSTEM_SECTORS + 3 + index * (2 + folders.length)
    return { spelling, tables: at, places: new Map(folders.map((folder, number) => [folder, at + 2 + number])) }
  })
  let next = SYSTEM_SECTORS + 3 + trees.length * (2 + folders.length)
  const contents: Buffer[] = []
  for (const [path, content] of files) {
    placeOf(root, path).at = next
    contents.push(padded(content))
    next += sectors(content.length)
  }
  const descriptors = trees.map(tree => descriptor(label, next, root, tree, folders))
  const bodies = trees.flatMap(tree => [
    padded(pathTable(tree, folders, 'LE')),
    padded(pathTable(tree, folders, 'BE')),
    ...folders.map(folder => padded(directory(folder, tree))),
  ])
  return Buffer.concat([Buffer.alloc(SYSTEM_SECTORS * SECTOR), ...descriptors, END, ...bodies, ...contents])
}

const sectors = (bytes: number) => Math.ceil(bytes / SECTOR)
const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(sectors(bytes.length) * SECTOR - bytes.length)])

function treeOf(files: Files): Folder {
  const root = newFolder('', null)
  for (const [path, { length: bytes }] of files) {
    const names = path.split('/')
    const name = names.pop()!
    let folder = root
    for (const part of names) {
      let found = folder.folders.find(one => one.name === part)
      if (!found) folder.folders.push((found = newFolder(part, folder)))
      folder = found
    }
    folder.files.push({ name, extent: { at: 0, bytes } })
  }
  return root
}

function newFolder(name: string, parent: Folder | null): Folder {
  const folder = { name, folders: [], files: [] } as unknown as Folder
  folder.parent = parent ?? folder
  return folder
}

function placeOf(root: Folder, path: string): Extent {
  const names = path.split('/')
  const name = names.pop()
  const folder = names.reduce((at, part) => at.folders.find(one => one.name === part)!, root)
  return folder.files.find(file => file.name === name)!.extent
}

/** Level by level, each sorted by its parent and its name, as path tables want it. */
function inLevels(root: Folder): Folder[] {
  const found: Folder[] = []
  for (let level = [root]; level.length > 0; level = level.flatMap(({ folders }) => folders)) {
    for (const folder of level) folder.folders.sort((a, b) => (a.name < b.name ? -1 : 1))
    found.push(...level)
  }
  return found
}

interface Tree {
  spelling: Spelling
  /** The sector of the first path table. */
  tables: number
  places: ReadonlyMap<Folder, number>
}

function pathTable({ spelling, places }: Tree, folders: readonly Folder[], order: 'LE' | 'BE'): Buffer {
  const rows = folders.map(folder => {
    const name = folder.parent === folder ? Buffer.from([0]) : spelling.folder(folder.name)
    const row = Buffer.alloc(8 + name.length + (name.length % 2))
    row[0] = name.length
    row[`writeUInt32${order}`](places.get(folder)!, 2)
    row[`writeUInt16${order}`](folders.indexOf(folder.parent) + 1, 6)
    name.copy(row, 8)
    return row
  })
  return Buffer.concat(rows)
}

function directory(folder: Folder, { spelling, places }: Tree): Buffer {
  const at = (one: Folder): Extent => ({ at: places.get(one)!, bytes: SECTOR })
  const entries = [
    ...folder.folders.map(one => ({ name: spelling.folder(one.name), extent: at(one), isFolder: true })),
    ...folder.files.map(({ name, extent }) => ({ name: spelling.file(name), extent, isFolder: false })),
  ].sort((a, b) => Buffer.compare(a.name, b.name))
  const bytes = Buffer.concat([
    record({ name: Buffer.from([0]), extent: at(folder), isFolder: true }),
    record({ name: Buffer.from([1]), extent: at(folder.parent), isFolder: true }),
    ...entries.map(record),
  ])
  if (bytes.length > SECTOR) throw new RangeError(`too many files in folder ${folder.name}`)
  return bytes
}

function record({ name, extent, isFolder }: { name: Buffer; extent: Extent; isFolder: boolean }): Buffer {
  const bytes = Buffer.alloc(33 + name.length + (1 - (name.length % 2)))
  bytes[0] = bytes.length
  both32(bytes, 2, extent.at)
  both32(bytes, 10, extent.bytes)
  // 1 January 2000: the same files give the same bytes.
  Buffer.from([100, 1, 1, 0, 0, 0, 0]).copy(bytes, 18)
  bytes[25] = isFolder ? 2 : 0
  both16(bytes, 28, 1)
  bytes[32] = name.length
  name.copy(bytes, 33)
  return bytes
}

function descriptor(label: string, size: number, root: Folder, tree: Tree, folders: readonly Folder[]): Buffer {
  const { spelling, tables, places } = tree
  const bytes = Buffer.alloc(SECTOR)
  bytes[0] = spelling.type
  bytes.write('CD001\u0001', 1, 'latin1')
  spelling.text('', 32).copy(bytes, 8)
  spelling.text(label, 32).copy(bytes, 40)
  both32(bytes, 80, size)
  // UCS-2 level 3: what tells Joliet from other second descriptors.
  if (spelling.type === 2) bytes.write('%/E', 88, 'latin1')
  both16(bytes, 120, 1)
  both16(bytes, 124, 1)
  both16(bytes, 128, SECTOR)
  both32(bytes, 132, pathTable(tree, folders, 'LE').length)
  bytes.writeUInt32LE(tables, 140)
  bytes.writeUInt32BE(tables + 1, 148)
  record({ name: Buffer.from([0]), extent: { at: places.get(root)!, bytes: SECTOR }, isFolder: true }).copy(bytes, 156)
  // Set, publisher, preparer, application; then the names of three files that aren't there.
  for (const at of [190, 318, 446, 574]) spelling.text('', 128).copy(bytes, at)
  for (const at of [702, 739, 776]) spelling.text('', 36).copy(bytes, at)
  for (const at of [813, 830]) bytes.write('2000010100000000', at, 'latin1')
  for (const at of [847, 864]) bytes.write('0000000000000000', at, 'latin1')
  bytes[881] = 1
  return bytes
}

const END = Buffer.alloc(SECTOR)
END[0] = 255
END.write('CD001\u0001', 1, 'latin1')

/** Numbers stand there in both orders of bytes. */
function both32(bytes: Buffer, at: number, value: number): void {
  bytes.writeUInt32LE(value, at)
  bytes.writeUInt32BE(value, at + 4)
}

function both16(bytes: Buffer, at: number, value: number): void {
  bytes.writeUInt16LE(value, at)
  bytes.writeUInt16BE(value, at + 2)
}
