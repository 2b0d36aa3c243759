import type { Holdfast } from '../client/index.ts'
import { fill } from '../demo/fill.ts'
import { fleetOf } from '../demo/fleet.ts'
import { remove } from '../demo/remove.ts'
import { gather } from '../demo/crowd.ts'
import type { DemoFlags } from './demo.ts'
export async function demo(server: Holdfast, flags: DemoFlags): Promise<void> {
  const now = () => Date.now()
  const t = now()
  let last=''
  const report = (w: string, d: number, n: number) => { if (w!==last||d===n) console.error(((now()-t)/1000).toFixed(1), w, d, n); last=w }
  if (flags.remove) { console.log(await remove(server, now, report)); return }
  const crowd = await gather(server, null, now)
  await fill({crowd, fleet: fleetOf(flags), now, report})
}
