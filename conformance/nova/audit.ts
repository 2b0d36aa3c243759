// nova-manage's own checks of Placement: what it thinks of the ledger after all of this.
import assert from 'node:assert/strict'
import { boot, remove, usedVcpus } from './servers.ts'
import type { Scenario } from './rig.ts'

export const audit: Scenario = {
  name: 'audit and heal',
  async run(rig) {
    const ids = [await boot(rig, rig.admin, 'audited-1'), await boot(rig, rig.member, 'audited-2')]
    const manage = async (...words: string[]) => {
      const { code, said } = await rig.manage('placement', ...words)
      return `${code}: ${said}`
    }
    assert.match(await manage('audit', '--verbose'), /^0: /)
    // Its word for nothing to heal is 4.
    assert.match(await manage('heal_allocations', '--verbose'), /^4: .*Nothing to be healed/s)
    // Without its claim, a server is found and healed.
    assert.equal((await rig.admin.holdfast('DELETE', `/placement/allocations/${ids[0]}`)).status, 204)
    assert.match(await manage('heal_allocations', '--verbose'), /^0: .*Processed 1 instance/s)
    assert.match(await manage('sync_aggregates', '--verbose'), /^0: /)
    await remove(rig, ids)
    await usedVcpus(rig, { 'compute-1': 0, 'compute-2': 0, 'compute-3': 0 })
  },
}
