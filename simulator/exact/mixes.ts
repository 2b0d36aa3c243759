// Mixes of clients who know each answer in advance.
import { answered, common, hosts, leasable, type Mix, nodes, times } from '../stage.ts'
import { diarist } from './diary.ts'
import { bookkeeper } from './ledger.ts'
import { ward } from './machines.ts'

const ledgers: Mix = async stage => times(3, () => bookkeeper(common(stage)))

const wards: Mix = async stage => {
  const { client } = stage
  await answered(stage, 'a trait', () => client.put('/placement/traits/CUSTOM_FAST'))
  const wards = await Promise.all(
    times(2, async i => {
      const resourceClass = `own-${i}`
      const made = await nodes(stage, 3, resourceClass)
      const traits = { traits: ['CUSTOM_FAST'] }
      await answered(stage, 'traits', () => client.put(`/baremetal/v1/nodes/${made[0]}/traits`, traits))
      return { resourceClass, nodes: made }
    }),
  )
  return wards.map(own => ward({ ...common(stage), ...own }))
}

const diaries: Mix = async stage => {
  const diaries = times(2, async i => {
    const resourceClass = `lent-${i}`
    await leasable(stage, 3, resourceClass)
    const [host] = await hosts(stage, 1)
    return { resourceClass, nodes: 3, host: host!, size: { vcpus: 6, memory_mb: 4_096, disk_gb: 100 } }
  })
  return (await Promise.all(diaries)).map(own => diarist({ ...common(stage), ...own }))
}

export const EXACT: Record<string, Mix> = { ledgers, wards, diaries }
