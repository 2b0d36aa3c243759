// Brings flavors about in Nova: asks what is there, and does the difference. All of it may be repeated at any point.
import { type Nova, type NovaFlavor, NovaRefusal } from '../../nova/port.ts'
import { isOurs, type WishedFlavor } from './wish.ts'

/** One round of work on a reservation. */
export interface Round {
  nova: Nova
  /** Earlier rounds of this wish that left something to wait for. */
  attempts: number
  /** Throws unless the work is still ours and wanted. Asked before each change in Nova. */
  hold: () => Promise<void>
}

/** The flavor with its class first, and access last: without its class it would be an ordinary one. */
export async function bringFlavor({ nova, hold }: Round, { flavor, projects }: WishedFlavor): Promise<void> {
  const { id, name } = flavor
  let present = await nova.flavor(id)
  if (present && !isLike(present, flavor)) {
    if (!isOurs(present)) {
      throw new NovaRefusal(409, `Nova has a flavor with the id ${id} that is not ours, called ${present.name}`)
    }
    // Neither sizes nor publicity can be changed, and what is set beyond our wish may lead servers elsewhere.
    await hold()
    await nova.deleteFlavor(id)
    present = null
  }
  if (!present) {
    await hold()
    if ((await nova.createFlavor(flavor)) === 'taken') {
      throw new NovaRefusal(409, `Nova has another flavor with the id ${id} or the name ${name}`)
    }
  }
  if (!hasAll(present?.extra_specs ?? {}, flavor.extra_specs)) {
    await hold()
    await nova.setExtraSpecs(id, flavor.extra_specs)
  }
  await bringAccess({ nova, hold }, id, projects)
}

async function bringAccess({ nova, hold }: Pick<Round, 'nova' | 'hold'>, id: string, projects: readonly string[]) {
  const [wanted, present] = [new Set(projects), new Set(await nova.flavorAccess(id))]
  for (const project of present.difference(wanted)) {
    await hold()
    await nova.revokeAccess(id, project)
  }
  for (const project of wanted.difference(present)) {
    await hold()
    await nova.grantAccess(id, project)
  }
}

/** Takes all access to a flavor of ours; returns whether it is there. */
export async function closeFlavor(round: Round, id: string): Promise<boolean> {
  const present = await round.nova.flavor(id)
  if (!present || !isOurs(present)) return false
  await bringAccess(round, id, [])
  return true
}

/** Whether what is there can become what is wanted by adding extra specs. */
const isLike = (present: NovaFlavor, wanted: NovaFlavor): boolean =>
  present.name === wanted.name &&
  present.vcpus === wanted.vcpus &&
  present.ram_mb === wanted.ram_mb &&
  present.disk_gb === wanted.disk_gb &&
  (present.ephemeral_gb ?? 0) === (wanted.ephemeral_gb ?? 0) &&
  (present.swap_mb ?? 0) === (wanted.swap_mb ?? 0) &&
  !present.is_public &&
  hasAll(wanted.extra_specs, present.extra_specs)

const hasAll = (all: Readonly<Record<string, string>>, some: Readonly<Record<string, string>>): boolean =>
  Object.entries(some).every(([key, value]) => all[key] === value)
