// holdfast conductor
import type { Config } from '../../config/config.ts'
import { mask } from '../../config/mask.ts'
import { limits } from '../../shared/limits.ts'
import { startConductor } from '../../process/serve.ts'
import { terminal } from '../terminal.ts'

export async function conductor(config: Config): Promise<number> {
  const running = await startConductor(config)
  const asked = running.address === null ? '' : `, and says how it is at ${running.address}/metrics`
  terminal().stdout.write(`Conductor ${running.hostname} is working on ${mask(config.database)}${asked}\n`)
  const signal = await new Promise<string>(resolve => {
    terminal().once('SIGTERM', resolve)
    terminal().once('SIGINT', resolve)
  })
  terminal().stdout.write(`\nholdfast: ${signal}: finishing what is under way\n`)
  await running.stop()
  setTimeout(() => terminal().exit(0), limits.exitMsMax).unref()
  return 0
}
