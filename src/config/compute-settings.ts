// The settings for compute (our own slice, or a Nova beside us), and for the catalog that names services of others.
import { oneOf, orNull, type Setting } from './kinds.ts'
import { Type } from '../shared/type.ts'

export const COMPUTE_SETTINGS = {
  compute: {
    flag: 'compute <word>',
    is: oneOf('own', 'nova', 'off'),
    fallback: 'own',
    help: 'own (servers of our own at /compute), nova (hosts and servers are those of the Nova at --nova-url) or off',
  },
  novaUrl: {
    flag: 'nova-url <url>',
    is: orNull(Type.String({ pattern: '^https?://[^@\\s]+$' })),
    fallback: null,
    help: 'http(s) address of the Nova of --compute nova, such as http://controller:8774/v2.1',
  },
  novaPollSeconds: {
    flag: 'nova-poll-seconds <number>',
    is: Type.Integer({ minimum: 1, maximum: 3_600 }),
    fallback: 10,
    help: 'how often Nova is asked which of its hosts are up',
  },
  catalog: {
    flag: 'catalog <json>',
    // Its shape is read and checked in identity/catalog-setting.ts.
    is: Type.Record(Type.String(), Type.Unknown()),
    fallback: {},
    help: 'where clients find services that are not ours: {TYPE: PLACE} or {TYPE: {name, url, public, internal, admin}} or {TYPE: {name, regions: {NAME: …}}}; a PLACE is own, hidden or an http(s) URL',
  },
} satisfies Record<string, Setting>
