// The console: Redfish says that a BMC has one, but carries no bytes of it. What is offered is the BMC's own page.
import { isObject } from '../../../shared/is-object.ts'
import type { AnswerTo } from '../questions.ts'
import { bmcSettingsOf } from './settings.ts'
import type { Visit } from './visit.ts'

const CONSOLES = ['GraphicalConsole', 'SerialConsole'] as const

export async function readConsole({ bmc, machine }: Visit): Promise<AnswerTo<'console'>> {
  if (machine.interfaces.console === 'no-console') return { console: null }
  const managers = await bmc.managers()
  const hasOne = managers.some(({ body }) =>
    CONSOLES.some(name => isObject(body[name]) && body[name]['ServiceEnabled'] !== false),
  )
  return { console: hasOne ? { kind: 'link', url: `${bmcSettingsOf(machine).access.origin}/` } : null }
}
