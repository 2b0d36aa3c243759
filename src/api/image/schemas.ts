// /v2/schemas: what images and their members look like, as Glance says it. python-glanceclient, and so Nova, shows no
// image without.
import type { TSchema } from 'typebox'
import { problem } from '../../problems/problem.ts'
import type { Answer } from '../frame/dialect.ts'
import type { Request } from '../frame/request.ts'
import type { Operation } from '../operation.ts'
import { Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

const UUID = '^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$'

const word = (description: string, maxLength = 255) => ({ type: ['null', 'string'], description, maxLength })
const time = (description: string) => ({ type: 'string', readOnly: true, description })
const number = (description: string) => ({ type: 'integer', description })
const link = { type: 'string', readOnly: true, description: '' }
const size = (description: string) => ({ type: ['null', 'integer'], readOnly: true, description })
const digest = (description: string, maxLength: number) => ({ ...word(description, maxLength), readOnly: true })
const oneOf = (description: string, ...words: (string | null)[]) => ({
  type: words.includes(null) ? ['null', 'string'] : 'string',
  description,
  enum: words,
})

const IMAGE_PROPERTIES = {
  id: { type: 'string', description: 'An identifier for the image', pattern: UUID },
  name: word('Descriptive name for the image'),
  status: {
    ...oneOf('Status of the image', 'queued', 'saving', 'active', 'killed', 'deleted', 'deactivated'),
    readOnly: true,
  },
  visibility: oneOf('Scope of image accessibility', 'community', 'public', 'private', 'shared'),
  protected: { type: 'boolean', description: 'If true, image will not be deletable.' },
  os_hidden: { type: 'boolean', description: 'If true, image will not appear in default image list response.' },
  checksum: digest('md5 hash of image contents.', 32),
  os_hash_algo: digest('Algorithm to calculate the os_hash_value', 64),
  os_hash_value: digest('Hexdigest of the image contents using the algorithm of os_hash_algo', 128),
  owner: word('Owner of the image'),
  size: size('Size of image file in bytes'),
  virtual_size: size('Virtual size of image in bytes'),
  container_format: oneOf(
    'Format of the container',
    null,
    'ami',
    'ari',
    'aki',
    'bare',
    'ovf',
    'ova',
    'docker',
    'compressed',
  ),
  disk_format: oneOf(
    'Format of the disk',
    null,
    'ami',
    'ari',
    'aki',
    'vhd',
    'vhdx',
    'vmdk',
    'raw',
    'qcow2',
    'vdi',
    'iso',
    'ploop',
  ),
  created_at: time('Date and time of image registration'),
  updated_at: time('Date and time of the last image modification'),
  tags: {
    type: 'array',
    description: 'List of strings related to the image',
    items: { type: 'string', maxLength: 255 },
  },
  min_ram: number('Amount of ram (in MB) required to boot image.'),
  min_disk: number('Amount of disk space (in GB) required to boot image.'),
  self: link,
  file: link,
  schema: link,
}
const IMAGE = {
  name: 'image',
  properties: IMAGE_PROPERTIES,
  additionalProperties: { type: 'string' },
  links: [
    { rel: 'self', href: '{self}' },
    { rel: 'enclosure', href: '{file}' },
    { rel: 'describedby', href: '{schema}' },
  ],
}
const MEMBER = {
  name: 'member',
  properties: {
    image_id: { type: 'string', description: 'An identifier for the image', pattern: UUID },
    member_id: { type: 'string', description: 'An identifier for the image member (tenantId)' },
    status: oneOf('The status of this image member', 'pending', 'accepted', 'rejected'),
    created_at: time('Date and time of image member creation'),
    updated_at: time('Date and time of last modification of image member'),
    schema: link,
  },
}
const text = { type: 'string' }

const SCHEMAS: ReadonlyMap<string, object> = new Map<string, object>([
  ['image', IMAGE],
  [
    'images',
    {
      name: 'images',
      properties: { images: { type: 'array', items: IMAGE }, first: text, next: text, schema: text },
      links: [
        { rel: 'first', href: '{first}' },
        { rel: 'next', href: '{next}' },
        { rel: 'describedby', href: '{schema}' },
      ],
    },
  ],
  ['member', MEMBER],
  [
    'members',
    {
      name: 'members',
      properties: { members: { type: 'array', items: MEMBER }, schema: text },
      links: [{ rel: 'describedby', href: '{schema}' }],
    },
  ],
])

const Shown: TSchema = Type.Object({ name: Text, properties: Type.Record(Type.String(), Type.Unknown()) })

showSchema.operation = {
  summary: 'Show the schema of image, images, member or members',
  answers: { 200: Shown },
} satisfies Operation

export function showSchema(request: Request): Answer {
  const body = SCHEMAS.get(request.param('name'))
  if (!body) throw problem('route_not_found', {})
  return { status: 200, body }
}
