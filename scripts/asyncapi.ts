// Writes docs/asyncapi.json, the stream of events with a schema for each type, from the code: node scripts/asyncapi.ts
import { writeFileSync } from 'node:fs'
import { CloudEvent, EVENT_TYPES } from '../src/api/event-shapes.ts'

export const FILE = new URL('../docs/asyncapi.json', import.meta.url)

export function asyncApiText(): string {
  const { title: _, ...shape } = JSON.parse(JSON.stringify(CloudEvent)) as { title: string; properties: object }
  const messages = Object.fromEntries(
    EVENT_TYPES.map(({ type, kind, says, isQuiet }) => [
      type,
      {
        name: type,
        title: `${kind}: ${type.split('.')[2]}`,
        summary: says,
        ...(isQuiet && { description: `Only for readers who ask for the kind: kind=${kind}` }),
        contentType: 'application/cloudevents+json',
        payload: {
          allOf: [
            { $ref: '#/components/schemas/CloudEvent' },
            {
              type: 'object',
              properties: { type: { const: type }, subject: { type: 'string', pattern: `^${kind}/` } },
            },
          ],
        },
      },
    ]),
  )
  const document = {
    asyncapi: '3.0.0',
    info: {
      title: 'Holdfast events',
      version: '1',
      description: 'What became of each object, as CloudEvents 1.0. Types are stable.',
      license: { name: 'Apache License 2.0' },
    },
    defaultContentType: 'application/cloudevents+json',
    channels: {
      events: {
        address: '/holdfast/v1/events',
        description: 'Server-sent events: GET with accept: text/event-stream.',
        messages: Object.fromEntries(EVENT_TYPES.map(({ type }) => [type, { $ref: `#/components/messages/${type}` }])),
      },
    },
    operations: {
      hear: { action: 'send', channel: { $ref: '#/channels/events' }, summary: 'Tell a reader what happened' },
    },
    components: { schemas: { CloudEvent: shape }, messages },
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

if (import.meta.main) writeFileSync(FILE, asyncApiText())
