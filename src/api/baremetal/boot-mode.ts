// /v1/nodes/X/states/boot_mode and /v1/nodes/X/states/secure_boot
import { flagOf } from '../../metal/nodes/attributes.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { oneOf } from '../shapes.ts'
import { orderOfMachine } from './asking.ts'
import { FlagWord } from '../shapes.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'
import { unknownMember } from './collection.ts'
import { wanted } from '../wanted.ts'
import { propertiesOf } from '../operation.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const MODE: Form = {
  schema: Type.Object({ target: oneOf('uefi', 'bios') }, { title: 'NewBootMode', additionalProperties: false }),
}
const SECURE: Form = {
  schema: Type.Object({ target: FlagWord }, { title: 'NewSecureBoot', additionalProperties: false }),
}

function targetIn(request: MetalRequest, form: Form): unknown {
  const { target, ...others } = request.object(form)
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw refuse(unknownMember(unknown, ['target']))
  if (target === undefined || target === null)
    throw refuse(`Missing mandatory parameter target: ${wanted(propertiesOf(form.schema)['target']!)}.`)
  return target
}

const accepted = (request: MetalRequest): Answer => ({
  status: 202,
  location: `/nodes/${request.param('ident')}/states`,
})

putBootMode.operation = {
  summary: 'Have a machine boot by UEFI or by its BIOS',
  body: [MODE],
  answers: { 202: null },
} satisfies Operation

export async function putBootMode(request: MetalRequest): Promise<Answer> {
  const target = targetIn(request, MODE)
  if (target !== 'uefi' && target !== 'bios') throw refuse('target, the boot mode, is uefi or bios.')
  await orderOfMachine(request, { name: 'set_boot_mode', args: { boot_mode: target } })
  return accepted(request)
}

putSecureBoot.operation = {
  summary: 'Switch the secure boot of a machine',
  body: [SECURE],
  answers: { 202: null },
} satisfies Operation

export async function putSecureBoot(request: MetalRequest): Promise<Answer> {
  const secure_boot = flagOf(targetIn(request, SECURE))
  if (secure_boot === null) throw refuse('target, secure boot, is true or false.')
  await orderOfMachine(request, { name: 'set_secure_boot', args: { secure_boot } })
  return accepted(request)
}
