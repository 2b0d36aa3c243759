// /nodes/X/sensors and /nodes/X/events: what a BMC measures, and what it wrote down. Bare metal's API has neither.
import type { Operation } from '../operation.ts'
import { named, oneOf, orNull, Text, TextOrNull } from '../shapes.ts'
import { askMachine } from '../baremetal/asking.ts'
import { type Answer, inMetal, type OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Reading = named('Reading', {
  sensor: Text,
  kind: oneOf('Temperature', 'Fan', 'Power', 'Voltage', 'Current', 'Other'),
  value: orNull(Type.Number()),
  unit: TextOrNull,
  health: TextOrNull,
})

getSensors.operation = {
  summary: 'Ask a machine what its sensors measure now',
  answers: { 200: Type.Object({ sensors: Type.Array(Reading) }) },
} satisfies Operation

export async function getSensors(request: OperatorRequest): Promise<Answer> {
  return { status: 200, body: await askMachine(inMetal(request), { name: 'sensors', args: {} }) }
}

const BmcEvent = named('BmcEvent', { at: TextOrNull, text: Text, severity: TextOrNull })

getEventsOfBmc.operation = {
  summary: 'Ask a machine for the event log of its BMC, the newest last',
  answers: { 200: Type.Object({ events: Type.Array(BmcEvent) }) },
} satisfies Operation

export async function getEventsOfBmc(request: OperatorRequest): Promise<Answer> {
  return { status: 200, body: await askMachine(inMetal(request), { name: 'events', args: {} }) }
}
