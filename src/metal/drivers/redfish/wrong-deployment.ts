// Whether a node could be deployed: what its instance asks for, checked without asking the BMC.
import { configDriveOf, wrongConfigDrive } from '../../media/config-drive.ts'
import { kernelBootOf, wrongKernelBoot } from '../../media/kernel-boot.ts'
import type { Machine } from '../port.ts'
import { bootIsoOf, type MediaHost, NO_MEDIA_URL } from './boot-medium.ts'
import { isByHttp } from './deploy.ts'

/** What is in the way of a deployment, or null. */
export function wrongDeployment(machine: Machine, host: MediaHost): string | null {
  return wrongMedium(machine, host) ?? wrongDrive(machine, host)
}

function wrongMedium(machine: Machine, { mediaUrl }: MediaHost): string | null {
  const { uuid, instanceInfo } = machine
  const wrong = wrongKernelBoot(machine)
  if (wrong !== null) return wrong
  const [iso, kernelBoot] = [bootIsoOf(machine), kernelBootOf(machine)]
  if ((iso !== null || kernelBoot) && instanceInfo['image_source'] !== undefined) {
    return `instance_info/image_source and ${kernelBoot ? 'kernel' : 'boot_iso'} exclude each other: this driver boots a medium and writes no image to a disk.`
  }
  if (kernelBoot) return mediaUrl === null ? NO_MEDIA_URL.kernel : null
  if (iso === null) {
    return `Cannot validate image information for node ${uuid} because one or more parameters are missing from its instance_info. Missing are: ['boot_iso'] (or kernel and ramdisk). Set it to the URL of an ISO that the BMC reaches, or set boot_iso in driver_info for everyone who gets the machine.`
  }
  const url = typeof iso === 'string' ? URL.parse(iso) : null
  if (!url || !['http:', 'https:'].includes(url.protocol) || /\s/.test(iso as string)) {
    return 'boot_iso must be an http or https URL that the BMC can reach.'
  }
  // The firmware of many machines ends the address there.
  if (isByHttp(machine) && /[?&]/.test(iso as string)) return 'boot_iso must have no ? and no & for boot over HTTP.'
  return null
}

function wrongDrive(machine: Machine, { mediaUrl }: MediaHost): string | null {
  const drive = configDriveOf(machine)
  if (drive?.kind !== 'given') return null
  return mediaUrl === null ? NO_MEDIA_URL.drive : wrongConfigDrive(machine)
}
