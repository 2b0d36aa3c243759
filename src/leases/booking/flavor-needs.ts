// What a server of a flavor takes of its host, and which hosts will do. Read once, when the flavor is booked. What can't be
// booked is refused: a slot in which the server can't start would be worth nothing. Pure.
import { asksForReservation, wishOf, wrongSpec } from '../../compute/wishes.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { FlavorNeeds, SourceFlavor } from '../../store/schema/leases.ts'

/** Whose servers these are: a Nova reads more extra specs than our own compute does. */
type Compute = 'own' | 'nova'

export function needsOf(flavor: SourceFlavor, compute: Compute): FlavorNeeds {
  const refuse = (reason: string) =>
    problem('lease_invalid', { reason: `Flavor ${flavor.id} can not be booked: ${reason}.` })
  const unsized = SIZES.find(name => !isSize(flavor[name]))
  if (unsized !== undefined) throw refuse(`its ${unsized} is no size`)
  const specs = Object.entries(flavor.extra_specs)
  if (specs.length > limits.extraSpecsPerFlavorMax) {
    throw refuse(`it has more than ${limits.extraSpecsPerFlavorMax} extra specs`)
  }
  if (![flavor.id, flavor.name, ...specs.flat()].every(isWord)) {
    throw refuse('its name or an extra spec is too long, or is no text')
  }
  for (const [key, value] of specs) {
    const reason = wrongSpec(key, value) ?? (compute === 'nova' ? unbookable(key, value) : null)
    if (reason !== null) throw refuse(`extra spec ${key}=${value}: ${reason}`)
  }
  const wish = wishOf(flavor)
  const numbered = Object.keys(wish.groups).find(suffix => suffix !== '')
  if (numbered !== undefined) {
    throw refuse(`the calendar knows hosts as a whole, and group ${numbered} asks for a part of one`)
  }
  if (asksForReservation(wish)) throw refuse('it is the flavor of a reservation')
  const { resources, required, forbidden } = wish.groups['']!
  const { VCPU = 0, MEMORY_MB = 0, DISK_GB = 0, ...extras } = compute === 'nova' ? pinned(flavor, resources) : resources
  const size = { vcpus: VCPU, memory_mb: MEMORY_MB, disk_gb: DISK_GB }
  const hasExtras = Object.keys(extras).length > 0
  if (VCPU + MEMORY_MB + DISK_GB === 0 && !hasExtras) throw refuse('its servers take nothing of their host')
  return { size: hasExtras ? { ...size, extras } : size, required, forbidden }
}

const SIZES = ['vcpus', 'ram_mb', 'disk_gb', 'ephemeral_gb', 'swap_mb'] as const

/** A size below zero would make room for others. */
const isSize = (value: number) => Number.isInteger(value) && value >= 0 && value <= limits.flavorNumberMax

/** What Nova itself keeps, and our databases can. */
const isWord = (text: string) => text.length <= limits.nameCharsMax && !text.includes('\0') && text.isWellFormed()

/** Nova gives dedicated CPUs as a class of their own, unless the flavor itself says which class. */
function pinned({ vcpus, extra_specs }: SourceFlavor, resources: Readonly<Record<string, number>>) {
  const isSaid = 'resources:VCPU' in extra_specs || 'resources:PCPU' in extra_specs
  if (extra_specs['hw:cpu_policy'] !== 'dedicated' || isSaid) return resources
  const { VCPU: _, ...rest } = resources
  return { ...rest, PCPU: vcpus }
}

/** Extra specs by which a Nova claims more than the flavor says, in ways that are its own. */
function unbookable(key: string, value: string): string | null {
  const isUnclear =
    (key === 'hw:cpu_policy' && value === 'mixed') ||
    (key === 'hw:emulator_threads_policy' && value === 'isolate') ||
    (key === 'hw:mem_encryption' && /^(true|1|yes|on|t|y)$/i.test(value)) ||
    key === 'accel:device_profile'
  return isUnclear ? 'what that takes of a host is not known before the server starts' : null
}
