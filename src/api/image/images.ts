// /v2/images: the one image that can be listed and shown.
import { CIRROS } from '../../compute/images.ts'
import { NOBODY } from '../../metal/nodes/provider.ts'
import { problem } from '../../problems/problem.ts'
import type { Answer } from '../frame/dialect.ts'
import type { Request } from '../frame/request.ts'
import type { Form, Operation } from '../operation.ts'
import { Count, Flag, Links, named, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

const IMAGE = {
  ...CIRROS,
  status: 'active',
  visibility: 'public',
  container_format: 'bare',
  disk_format: 'qcow2',
  min_disk: 0,
  min_ram: 0,
  size: 1,
  virtual_size: null,
  checksum: null,
  owner: NOBODY.project,
  protected: false,
  os_hidden: false,
  tags: [],
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  self: `/v2/images/${CIRROS.id}`,
  file: `/v2/images/${CIRROS.id}/file`,
  schema: '/v2/schemas/image',
}

const Shown = named('Image', {
  id: Text,
  name: Text,
  status: Text,
  visibility: Text,
  container_format: Text,
  disk_format: Text,
  min_disk: Count,
  min_ram: Count,
  size: Count,
  virtual_size: Type.Null(),
  checksum: Type.Null(),
  owner: Text,
  protected: Flag,
  os_hidden: Flag,
  tags: Type.Array(Text),
  created_at: Text,
  updated_at: Text,
  self: Text,
  file: Text,
  schema: Text,
})

/** All filters are by equality. */
const FILTERS = ['name', 'id', 'status', 'visibility', 'owner'] as const
const PARAMETERS: Form = {
  schema: Type.Object(Object.fromEntries([...FILTERS, 'marker'].map(name => [name, Type.Optional(Text)]))),
}

listImages.operation = {
  summary: 'List the images that match',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ images: Type.Array(Shown), first: Text, schema: Text }) },
} satisfies Operation

export function listImages(request: Request): Answer {
  const images = matches(request) ? [IMAGE] : []
  return { status: 200, body: { images, first: '/v2/images', schema: '/v2/schemas/images' } }
}

/** Whether the image matches the query. */
function matches(request: Request): boolean {
  if (request.parameter('marker') !== null) return false
  return FILTERS.every(key => {
    const wanted = request.parameter(key)?.replace(/^in:/, '')
    return wanted === undefined || wanted === IMAGE[key]
  })
}

showImage.operation = { summary: 'Show an image', answers: { 200: Shown } } satisfies Operation

export function showImage(request: Request): Answer {
  const id = request.param('id')
  // Only ids are found here: clients look up names in the list.
  if (id !== IMAGE.id) throw problem('image_not_found', { image: id })
  return { status: 200, body: IMAGE }
}

export const showVersions = (base: string): object => ({
  versions: [{ id: 'v2.9', status: 'CURRENT', links: [{ rel: 'self', href: `${base}/v2/` }] }],
})
showVersions.operation = {
  summary: 'Show the versions of the API',
  answers: { 300: Type.Object({ versions: Type.Array(named('Version', { id: Text, status: Text, links: Links })) }) },
} satisfies Operation
