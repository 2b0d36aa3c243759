// What a test BMC does when it is told to change something.
import { isObject } from '../../src/shared/is-object.ts'
import type { Json } from '../../src/shared/json.ts'
import type { SeenRequest, TestBmc } from './bmc.ts'
import { linkTo } from './bmc-resources.ts'

export interface Answer {
  status: number
  body?: Json | string
  headers?: Record<string, string>
}

export const refused = (status: number, id: string, text: string): Answer => ({
  status,
  body: {
    error: {
      code: `Base.1.8.${id}`,
      message: 'A general error has occurred. See ExtendedInfo for more information.',
      '@Message.ExtendedInfo': [{ MessageId: `Base.1.8.${id}`, Message: text, Severity: 'Critical' }],
    },
  },
})

export async function actionOf(bmc: TestBmc, request: SeenRequest): Promise<Answer> {
  const { method, path } = request
  if (method === 'PATCH') return patch(bmc, request)
  if (method === 'DELETE') return remove(bmc, path)
  const [owner, action] = path.split('/Actions/') as [string, string | undefined]
  const resource = bmc.resources.get(owner)
  if (action !== undefined && !resource) return refused(404, 'ResourceMissingAtURI', `There is no ${owner}.`)
  switch (action) {
    case 'ComputerSystem.Reset':
      return reset(bmc, owner, request)
    case 'VirtualMedia.InsertMedia':
      return insert(bmc, resource!, request)
    case 'VirtualMedia.EjectMedia':
      Object.assign(resource!, { Image: null, ImageName: null, Inserted: false, ConnectedVia: 'NotConnected' })
      return { status: 204 }
    case 'Bios.ResetBios':
      bmc.resources.get(`${owner}/Settings`)!['Attributes'] = {
        BootMode: 'Uefi',
        ProcVirtualization: 'Enabled',
        NumLock: true,
        FanOffset: 10,
      }
      return { status: 204 }
    case undefined:
      return path.endsWith('/Volumes')
        ? createVolume(bmc, request)
        : refused(405, 'ActionNotSupported', 'No such thing.')
    default:
      return refused(404, 'ActionNotSupported', `There is no action ${action}.`)
  }
}

function reset(bmc: TestBmc, owner: string, { body }: SeenRequest): Answer {
  const machine = bmc.machines.find(({ path }) => path === owner)!
  const type = body?.['ResetType']
  const actions = machine.system['Actions'] as Record<string, Json>
  const allowed = actions['#ComputerSystem.Reset']!['ResetType@Redfish.AllowableValues'] as string[] | undefined
  if (typeof type !== 'string' || (allowed && !allowed.includes(type))) {
    return refused(400, 'ActionParameterNotSupported', `ResetType ${JSON.stringify(type)} is not supported.`)
  }
  const status = machine.reset(type)
  return status < 300 ? { status } : refused(status, 'ResourceInUse', `The machine is ${machine.power} already.`)
}

async function insert(bmc: TestBmc, slot: Json, { body }: SeenRequest): Promise<Answer> {
  const image = body?.['Image']
  if (typeof image !== 'string') return refused(400, 'ActionParameterMissing', 'Image is missing.')
  if (slot['Inserted'] === true) return refused(409, 'ResourceInUse', 'A medium is in the drive.')
  if (bmc.options.downloads) {
    const got = await fetch(image).catch(() => null)
    if (!got?.ok)
      return refused(got ? 400 : 500, 'InsertMediaFailed', `The image can't be read: ${got?.status ?? 'nobody there'}.`)
    bmc.downloads.push(Buffer.from(await got.arrayBuffer()).toString('latin1'))
  }
  const connected = { Image: image, ImageName: image.split('/').at(-1), Inserted: true, ConnectedVia: 'URI' }
  Object.assign(slot, connected, { WriteProtected: body!['WriteProtected'] ?? true })
  return { status: 204 }
}

function patch(bmc: TestBmc, { path, body }: SeenRequest): Answer {
  const resource = bmc.resources.get(path)
  if (!resource) return refused(404, 'ResourceMissingAtURI', `There is no ${path}.`)
  const wrong = notAllowed(resource, body ?? {})
  if (wrong) return refused(400, 'PropertyValueNotInList', wrong)
  merge(resource, body ?? {})
  return { status: 204 }
}

/** The first value that isn't among its AllowableValues. */
function notAllowed(resource: Json, change: Json): string | null {
  for (const [key, value] of Object.entries(change)) {
    if (isObject(value) && isObject(resource[key])) {
      const wrong = notAllowed(resource[key], value)
      if (wrong) return wrong
    }
    const allowed = resource[`${key}@Redfish.AllowableValues`]
    if (Array.isArray(allowed) && !allowed.includes(value)) return `${key} can't be ${JSON.stringify(value)}.`
  }
  return null
}

function merge(resource: Json, change: Json): void {
  for (const [key, value] of Object.entries(change)) {
    if (isObject(value) && isObject(resource[key])) merge(resource[key], value)
    else resource[key] = value
  }
}

function createVolume(bmc: TestBmc, request: SeenRequest): Answer {
  const { path, body } = request
  const collection = bmc.resources.get(path)
  if (!collection) return refused(404, 'ResourceMissingAtURI', `There is no ${path}.`)
  const members = collection['Members'] as Json[]
  const drives = ((body?.['Links'] as Json | undefined)?.['Drives'] ?? []) as { '@odata.id': string }[]
  if (drives.length === 0) return refused(400, 'PropertyMissing', 'Links.Drives is missing.')
  if (body!['@Redfish.OperationApplyTime'] === 'OnReset') {
    const { '@Redfish.OperationApplyTime': _, ...rest } = body!
    const machine = bmc.machines.find(machine => path.startsWith(`${machine.path}/`))!
    machine.atBoot.push(() => createVolume(bmc, { ...request, body: rest }))
    return { status: 202, headers: { location: `${bmc.root}/TaskService/TaskMonitors/at-boot` } }
  }
  let number = 1
  while (bmc.resources.has(`${path}/${number}`)) number++
  const made = `${path}/${number}`
  const sizes = drives.map(drive => Number(bmc.resources.get(drive['@odata.id'])?.['CapacityBytes'] ?? 0))
  const CapacityBytes = body!['CapacityBytes'] ?? Math.min(...sizes)
  bmc.resources.set(made, {
    '@odata.id': made,
    Id: String(number),
    Name: `Volume ${number}`,
    ...body,
    CapacityBytes,
    Status: { State: 'Enabled', Health: 'OK' },
  })
  members.push(linkTo(made))
  for (const drive of drives) volumesOf(bmc, drive['@odata.id']).push(linkTo(made))
  return { status: 201, headers: { location: made }, body: bmc.resources.get(made)! }
}

const volumesOf = (bmc: TestBmc, drive: string) => (bmc.resources.get(drive)!['Links'] as Json)['Volumes'] as Json[]

function remove(bmc: TestBmc, path: string): Answer {
  const volume = bmc.resources.get(path)
  if (!volume || !/\/Volumes\/\d+$/.test(path))
    return refused(volume ? 405 : 404, 'ResourceMissingAtURI', `No ${path}.`)
  bmc.resources.delete(path)
  const gone = (links: Json[]) => links.filter(link => link['@odata.id'] !== path)
  const collection = bmc.resources.get(path.replace(/\/\d+$/, ''))!
  collection['Members'] = gone(collection['Members'] as Json[])
  for (const drive of ((volume['Links'] as Json)['Drives'] ?? []) as { '@odata.id': string }[]) {
    const links = bmc.resources.get(drive['@odata.id'])!['Links'] as Json
    links['Volumes'] = gone(links['Volumes'] as Json[])
  }
  return { status: 204 }
}
