// holdfast conductor
import type { Config } from '../../config/config.ts'
import { mask } from '../../config/mask.ts'
import { limits } from '../../shared/limits.ts'
import { startConductor } from '../../process/serve.ts'

export async function conductor(config: Config): Promise<number> {
  const running = await startConductor(config)
  const asked = running.address === null ? '' : `, and says how it is at ${running.address}/metrics`
  process.stdout.write(`Conductor ${running.hostname} is working on ${mask(config.database)}${asked}\n`)
  const signal = await new Promise<string>(resolve => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  process.stdout.write(`\nholdfast: ${signal}: finishing what is under way\n`)
  await running.stop()
  setTimeout(() => process.exit(0), limits.exitMsMax).unref()
  return 0
}
