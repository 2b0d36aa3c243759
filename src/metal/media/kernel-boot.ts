// A deployment that names a kernel and a ramdisk: what it boots, what is wrong with it, and the URL under which its BMC
// finds the ISO that we make of them.
import { limits } from '../../shared/limits.ts'
import type { Machine } from '../drivers/port.ts'
import { isSameSignature, mediumUrl, signatureFor } from './signature.ts'

type Deployed = Pick<Machine, 'uuid' | 'instanceUuid' | 'instanceInfo' | 'driverInfo'>

export interface KernelBoot {
  readonly kernel: string
  readonly ramdisk: string
  /** For the kernel, with single spaces between them. */
  readonly params: string
}

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== ''

/**
 * Where the medium of a deployment is named: in the instance, else in the node, for all who get it. One of them alone: a
 * kernel must not meet a ramdisk that someone else thought of.
 */
export const namedIn = ({ instanceInfo, driverInfo }: Pick<Machine, 'instanceInfo' | 'driverInfo'>) =>
  ['boot_iso', 'kernel', 'ramdisk'].some(key => isGiven(instanceInfo[key])) ? instanceInfo : driverInfo

/** Null when it boots something else, or when something is wrong with it. */
export function kernelBootOf(machine: Deployed): KernelBoot | null {
  const { kernel, ramdisk } = namedIn(machine)
  if (!isGiven(kernel) || wrongKernelBoot(machine) !== null) return null
  return { kernel: kernel as string, ramdisk: ramdisk as string, params: paramsOf(machine) as string }
}

/** What is wrong with kernel, ramdisk and parameters, or null; also when there are none. */
export function wrongKernelBoot(machine: Deployed): string | null {
  const { boot_iso: iso, kernel, ramdisk, kernel_append_params: besides } = namedIn(machine)
  if (!isGiven(kernel) && !isGiven(ramdisk)) {
    return isGiven(machine.instanceInfo['kernel_append_params']) || (isGiven(iso) && isGiven(besides))
      ? 'kernel_append_params needs kernel and ramdisk: an ISO brings parameters of its own.'
      : null
  }
  if (isGiven(iso)) return 'boot_iso excludes kernel and ramdisk: the machine boots one of them.'
  if (!isGiven(ramdisk)) return 'kernel needs a ramdisk beside it.'
  if (!isGiven(kernel)) return 'ramdisk needs a kernel beside it.'
  return wrongUrl('kernel', kernel) ?? wrongUrl('ramdisk', ramdisk) ?? wrongParams(paramsOf(machine))
}

function wrongUrl(name: string, value: unknown): string | null {
  const url = typeof value === 'string' && !/\s/.test(value) ? URL.parse(value) : null
  if (!url || !['http:', 'https:'].includes(url.protocol)) return `${name} must be an http or https URL.`
  return url.username + url.password === '' ? null : `${name} must be a URL without a user and a password.`
}

/** As upstream: %default% stands for those of the node. */
function paramsOf({ instanceInfo, driverInfo }: Deployed): unknown {
  const fallback = driverInfo['kernel_append_params'] ?? ''
  const given = instanceInfo['kernel_append_params'] ?? fallback
  if (typeof given !== 'string' || typeof fallback !== 'string') return null
  return given
    .replaceAll('%default%', () => fallback)
    .split(' ')
    .filter(Boolean)
    .join(' ')
}

/** Nothing that GRUB takes for more than a letter, even without quotes. */
const PLAIN = /^[\w .,:/=@+%~^-]*$/

function wrongParams(params: unknown): string | null {
  if (typeof params !== 'string') return 'kernel_append_params must be text.'
  if (params.length > limits.kernelParamsCharsMax) {
    return `kernel_append_params has more than ${limits.kernelParamsCharsMax} characters.`
  }
  return PLAIN.test(params)
    ? null
    : 'kernel_append_params may have letters, digits, spaces and _ . , : / = @ + % ~ ^ - only.'
}

/** What GRUB does on the ISO: it says so on the serial line too, where there is one, and waits for nobody. */
export const grubConfigOf = ({ params }: KernelBoot) => `if serial --unit=0 --speed=115200; then
  terminal_input console serial
  terminal_output console serial
fi
set timeout=0
menuentry 'Holdfast' {
  linux /vmlinuz${params === '' ? '' : ` ${params}`}
  initrd /initrd
}
`

const signatureOf = (machine: Deployed) => signatureFor('boot ISO', kernelBootOf(machine), machine)

export const isSignedBoot = (machine: Deployed, signature: string) => isSameSignature(signatureOf(machine), signature)

/** Below `base`, the address of this service as BMCs reach it. */
export const bootIsoUrl = (base: string, machine: Deployed) =>
  mediumUrl(base, machine.uuid, signatureOf(machine), 'boot.iso')
