// Holdfast and nova-compute end and come back while servers are made and moved: nothing is lost, nothing is left.
import { act, awaited, boot, order, remove, usedVcpus } from './servers.ts'
import { reported } from './moves.ts'
import type { Scenario } from './rig.ts'

export const restarts: Scenario = {
  name: 'restarts in between',
  async run(rig) {
    const early = await Promise.all(Array.from({ length: 6 }, (_, i) => order(rig.admin, `early-${i}`)))
    for (const id of early) await awaited(rig, id, 'ACTIVE')
    await act(rig, early[0]!, { migrate: null })
    await awaited(rig, early[0]!, 'VERIFY_RESIZE')
    await rig.holdfast.stop('SIGKILL')
    await rig.holdfast.start()
    await act(rig, early[0]!, { confirmResize: null })
    await awaited(rig, early[0]!, 'ACTIVE')
    await rig.stop('compute-1')
    await rig.holdfast.stop()
    await reported(rig, ['compute-1', 'compute-2'], async () => {
      // nova-compute ends at once if it finds no Identity when it starts.
      await rig.holdfast.start()
      await rig.start('compute-1')
    })
    const late = [await boot(rig, rig.admin, 'late-1'), await boot(rig, rig.member, 'late-2')]
    await remove(rig, [...early, ...late])
    await usedVcpus(rig, { 'compute-1': 0, 'compute-2': 0, 'compute-3': 0 })
  },
}
