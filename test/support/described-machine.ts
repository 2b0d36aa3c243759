// A machine as a BMC describes it, for unit tests of inspection.
import assert from 'node:assert/strict'
import type { Json } from '../../src/metal/drivers/port.ts'
import { type Bmc, BmcRefusal, type Resource } from '../../src/metal/drivers/redfish/bmc.ts'
import { inspect } from '../../src/metal/drivers/redfish/inspect.ts'
import type { Report } from '../../src/metal/drivers/report.ts'

export const link = (path: string) => ({ '@odata.id': path })
/** Lists of members by path of their collection, and single resources. */
interface Machine {
  root?: Json
  system?: Json
  managers?: Json[]
  chassis?: Json[]
  collections?: Record<string, Json[]>
  resources?: Record<string, Json>
  failures?: Record<string, Error>
}

const gone = (path: string) => new BmcRefusal(`The BMC has no ${path}.`, { status: 404, messageIds: [] })

export function bmcOf({ root = {}, system = {}, managers = [], chassis = [], ...has }: Machine): Bmc {
  const asResource = (path: string, body: Json): Resource => ({ path, body })
  const refuse = (path: string) => {
    const failure = has.failures?.[path]
    if (failure) throw failure
  }
  const find = async (path: string | null) => {
    if (path === null) return null
    refuse(path)
    const body = has.resources?.[path]
    return body ? asResource(path, body) : null
  }
  const never = () => assert.fail('an inspection changes nothing')
  return {
    find,
    get: async path => (await find(path)) ?? Promise.reject(gone(path)),
    members: async path => {
      if (path === null) return []
      refuse(path)
      return (has.collections?.[path] ?? []).map((body, at) =>
        asResource(`${path}/${(body['Id'] as string | undefined) ?? at}`, body),
      )
    },
    patch: never,
    post: never,
    delete: never,
    system: async () => asResource('/redfish/v1/Systems/1', system),
    managers: async () => managers.map((body, at) => asResource(`/redfish/v1/Managers/${at}`, body)),
    chassis: async () => chassis.map((body, at) => asResource(`/redfish/v1/Chassis/${at}`, body)),
    root: async () => asResource('/redfish/v1/', root),
  }
}

export const ALL = ['Processors', 'Memory', 'Storage', 'SimpleStorage', 'EthernetInterfaces', 'GraphicsControllers']
const LINKS = Object.fromEntries(ALL.map(name => [name, link(`/s/${name}`)]))
export const reportOf = async (machine: Machine) => {
  const { inventory, ...found } = await inspect(bmcOf({ ...machine, system: { ...LINKS, ...machine.system } }))
  return { ...found, ...(inventory as Report), notes: found.notes ?? [] }
}

/** What almost every machine has. */
export const PLAIN: Json = { MemorySummary: { TotalSystemMemoryGiB: 64 } }
export const CPU = { ProcessorType: 'CPU', InstructionSet: 'x86-64', TotalThreads: 32, TotalCores: 16, Model: 'Xeon' }
