// Sensors: temperatures, fans, power and voltages of the machine's chassis.
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import { numberIn } from '../../../shared/scalar.ts'
import type { Json } from '../port.ts'
import type { Reading } from '../questions.ts'
import { type Bmc, linkIn } from './bmc.ts'
import { textOf } from './words.ts'

type Kind = Reading['kind']

export async function readSensors(bmc: Bmc): Promise<Reading[]> {
  const all: Reading[] = []
  for (const { body } of await bmc.chassis()) all.push(...(await sensorsOf(bmc, body)))
  return withOwnNames(all.slice(0, limits.redfishSensorsMax))
}

/** The two old resources have everything in two requests; where they are gone, each sensor is one of its own. */
async function sensorsOf(bmc: Bmc, chassis: Json): Promise<Reading[]> {
  const [thermal, power] = [await bmc.find(linkIn(chassis, 'Thermal')), await bmc.find(linkIn(chassis, 'Power'))]
  const old = [...inThermal(thermal?.body ?? {}), ...inPower(power?.body ?? {})]
  if (old.length > 0) return old
  const single = (await bmc.members(linkIn(chassis, 'Sensors'))).map(({ body }) => sensorIn(body))
  return (single.length > 0 ? single : await inSubsystems(bmc, chassis)).filter(reading => reading !== null)
}

/** Where the sensors have no collection: the fans and power supplies have readings of their own. */
async function inSubsystems(bmc: Bmc, chassis: Json): Promise<(Reading | null)[]> {
  const [thermal, power] = [
    await bmc.find(linkIn(chassis, 'ThermalSubsystem')),
    await bmc.find(linkIn(chassis, 'PowerSubsystem')),
  ]
  const metrics = await bmc.find(linkIn(thermal?.body, 'ThermalMetrics'))
  const [fans, supplies] = [
    await bmc.members(linkIn(thermal?.body, 'Fans')),
    await bmc.members(linkIn(power?.body, 'PowerSupplies')),
  ]
  return [
    ...listIn(metrics?.body, 'TemperatureReadingsCelsius').map(body =>
      reading({ Name: body['DeviceName'], ...body }, { kind: 'Temperature', unit: 'Cel', value: body['Reading'] }),
    ),
    ...fans.map(({ body }) => fanIn(body)),
    ...supplies.map(({ body }) => reading(body, { kind: 'Power', unit: 'W', value: null })),
  ]
}

function fanIn(body: Json): Reading | null {
  const speed = isObject(body['SpeedPercent']) ? body['SpeedPercent'] : {}
  return speed['SpeedRPM'] === undefined
    ? reading(body, { kind: 'Fan', unit: '%', value: speed['Reading'] })
    : reading(body, { kind: 'Fan', unit: 'RPM', value: speed['SpeedRPM'] })
}

function inThermal(body: Json): Reading[] {
  const temperatures = listIn(body, 'Temperatures').map(entry =>
    reading(entry, { kind: 'Temperature', unit: 'Cel', value: entry['ReadingCelsius'] }),
  )
  const fans = listIn(body, 'Fans').map(entry => {
    const unit = entry['ReadingUnits'] === 'Percent' ? '%' : 'RPM'
    return reading(
      { Name: entry['FanName'], ...entry },
      { kind: 'Fan', unit, value: entry['Reading'] ?? entry['ReadingRPM'] },
    )
  })
  return [...temperatures, ...fans].filter(entry => entry !== null)
}

function inPower(body: Json): Reading[] {
  const watts = (entry: Json, value: unknown) => reading(entry, { kind: 'Power', unit: 'W', value })
  return [
    ...listIn(body, 'PowerControl').map(entry => watts(entry, entry['PowerConsumedWatts'])),
    ...listIn(body, 'PowerSupplies').map(entry =>
      watts(entry, entry['PowerInputWatts'] ?? entry['LastPowerOutputWatts']),
    ),
    ...listIn(body, 'Voltages').map(entry =>
      reading(entry, { kind: 'Voltage', unit: 'V', value: entry['ReadingVolts'] }),
    ),
  ].filter(entry => entry !== null)
}

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>(
  Object.entries({
    Temperature: 'Temperature',
    Rotational: 'Fan',
    Power: 'Power',
    Voltage: 'Voltage',
    Current: 'Current',
  } as const),
)

function sensorIn(body: Json): Reading | null {
  const isFan = body['PhysicalContext'] === 'Fan' && body['ReadingType'] === 'Percent'
  const kind = isFan ? 'Fan' : (KINDS.get(textOf(body['ReadingType'])) ?? 'Other')
  return reading(body, { kind, unit: textOf(body['ReadingUnits']) || null, value: body['Reading'] })
}

/** Null for what isn't there: an empty bay has no temperature. */
function reading(
  body: Json,
  { kind, unit, value }: { kind: Kind; unit: string | null; value: unknown },
): Reading | null {
  const status = isObject(body['Status']) ? body['Status'] : {}
  if (status['State'] === 'Absent') return null
  const number = numberIn(value)
  return {
    sensor: textOf(body['Name']) || textOf(body['MemberId']) || textOf(body['Id']),
    kind,
    value: Number.isFinite(number) ? number : null,
    unit,
    health: textOf(status['Health']) || null,
  }
}

const listIn = (body: Json | undefined, key: string): Json[] => {
  const list = body?.[key]
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** Some call all their sensors the same. */
function withOwnNames(all: readonly Reading[]): Reading[] {
  const seen = new Map<string, number>()
  return all.map(reading => {
    const key = `${reading.kind} ${reading.sensor}`
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    return count === 1 ? reading : { ...reading, sensor: `${reading.sensor} ${count}` }
  })
}
