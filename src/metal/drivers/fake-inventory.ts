// What fake-hardware says that it found: a small machine, and in its place whatever driver_info says.
import { isObject } from '../../shared/is-object.ts'
import { numberIn } from '../../shared/scalar.ts'
import type { Done, Json } from './port.ts'
import { withBasics } from './report.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** The basics and the parts of the report say the same, whichever of them is given. */
export function fakeInspection(given: unknown): Done {
  const said: Json = isObject(given) ? given : {}
  const [cpu, memory] = [partOf(said, 'cpu'), partOf(said, 'memory')]
  const cpus = said['cpus'] ?? cpu['count'] ?? 8
  const cpu_arch = said['cpu_arch'] ?? cpu['architecture'] ?? 'x86_64'
  const memory_mb = said['memory_mb'] ?? memory['physical_mb'] ?? 16_384
  const local_gb = said['local_gb'] ?? 100
  const report: Json = withBasics({
    disks: [{ name: 'fake', size: (numberIn(local_gb) + 1) * GIB }],
    interfaces: [],
    ...said,
    cpus,
    cpu_arch,
    memory_mb,
    local_gb,
    cpu: { count: cpus, architecture: cpu_arch, ...cpu },
    memory: { physical_mb: memory_mb, total: numberIn(memory_mb) * MIB, ...memory },
  })
  return { inventory: report, ports: addressesIn(report['interfaces']).map(address => ({ address })) }
}

const partOf = (said: Json, name: string): Json => (isObject(said[name]) ? said[name] : {})

const addressesIn = (interfaces: unknown): string[] =>
  (Array.isArray(interfaces) ? interfaces : [])
    .map(one => (isObject(one) ? one['mac_address'] : null))
    .filter((address): address is string => typeof address === 'string' && MAC.test(address))

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i
