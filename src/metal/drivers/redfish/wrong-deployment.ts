// Whether a node could be deployed: what its instance asks for, checked without asking the BMC.
import { configDriveOf, wrongConfigDrive } from '../../media/config-drive.ts'
import type { Machine } from '../port.ts'
import { bootIsoOf, isByHttp, type MediaHost, NO_MEDIA_URL } from './deploy.ts'

/** What is in the way of a deployment, or null. */
export function wrongDeployment(machine: Machine, host: MediaHost): string | null {
  return wrongMedium(machine) ?? wrongDrive(machine, host)
}

function wrongMedium(machine: Machine): string | null {
  const { uuid, instanceInfo } = machine
  const iso = bootIsoOf(machine)
  if (iso !== null && instanceInfo['image_source'] !== undefined) {
    return 'instance_info/boot_iso and instance_info/image_source exclude each other: this driver boots an ISO and writes no image to a disk.'
  }
  const parts = ['kernel', 'ramdisk', 'kernel_append_params'].filter(key => instanceInfo[key] !== undefined)
  if (parts.length > 0) {
    return `instance_info/${parts.join(', ')}: this driver boots an ISO as it is. Put kernel, ramdisk and parameters into one, and name it in instance_info/boot_iso.`
  }
  if (iso === null) {
    return `Cannot validate image information for node ${uuid} because one or more parameters are missing from its instance_info. Missing are: ['boot_iso']. Set it to the URL of an ISO that the BMC reaches, or set boot_iso in driver_info for everyone who gets the machine.`
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
  return mediaUrl === null ? NO_MEDIA_URL : wrongConfigDrive(machine)
}
