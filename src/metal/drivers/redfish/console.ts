// Redfish announces consoles and carries none of their bytes. So the answer is the BMC's own page, where it has one.
import type { AnswerTo } from '../questions.ts'
import type { Json } from '../port.ts'
import type { Visit } from './visit.ts'

/** The page of the BMC, if one of its managers says that a graphical console is switched on. */
export async function readConsole({ bmc, machine }: Pick<Visit, 'bmc' | 'machine'>): Promise<AnswerTo<'console'>> {
  const managers = await bmc.managers()
  const hasScreen = managers.some(
    ({ body }) => (body['GraphicalConsole'] as Json | undefined)?.['ServiceEnabled'] === true,
  )
  const url = hasScreen ? pageAt(machine.driverInfo['redfish_address']) : null
  return { console: url === null ? null : { kind: 'link', url } }
}

/** Only what a browser opens safely, without what else is in the address. */
function pageAt(address: unknown): string | null {
  if (typeof address !== 'string') return null
  const url = /^https?:\/\//i.test(address) ? address : `https://${address}`
  return URL.canParse(url) ? `${new URL(url).origin}/` : null
}
