// Requests that nobody should send: a generator over all routes, methods, versions, bodies and headers.
import * as fc from 'fast-check'

export interface BadRequest {
  method: string
  path: string
  /** undefined sends none. */
  version: string | undefined
  body: string | Buffer | undefined
  headers: Record<string, string>
}

/** What exists, so that the requests get past the first check. */
export interface Known {
  provider: string
  consumer: string
}

const words = (text: string) => text.trim().split(/\s+/)

const oddText = fc.oneof(
  fc.constantFrom('', ' ', '\u{1f600}', ...words('% %00 %ff %ed%a0%80 %c3%28 %2e%2e ..%2f %zz %0d%0a')),
  fc.constantFrom(...words("__proto__ constructor toString null undefined NaN ';-- ${x} {{x}} *")),
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.string({ minLength: 300, maxLength: 400 }),
)

const oddNumber = fc.constantFrom(
  ...words('-1 0 1 -0 1.5 0.1 1e-7 1E5 1e400 -1e400 1e308 5e-324 2147483647 2147483648 9007199254740993'),
  ...words('9223372036854775808 123456789012345678901234567890'),
)

const oddJson = fc.oneof(
  oddNumber,
  fc.constantFrom(...words(String.raw`null true [] {} "" "\u0000" "\ud800" "\udc00x" "a\u0000b" [null] [[]]`)),
  fc.constantFrom(...words(String.raw`{"__proto__":{"total":1}} {"constructor":1} {"":{}} {"a\ud800":1}`)),
  fc.json({ maxDepth: 3 }),
  oddText.map(text => JSON.stringify(text)),
)

/** A member of a JSON object, with a name that may mean something to the server or to JavaScript. */
const oddMember = fc
  .tuple(
    fc.constantFrom(
      ...words('__proto__ constructor prototype hasOwnProperty generation resources total name VCPU vcpu x'),
      ...words(String.raw`resource_provider_generation consumer_generation mappings \u0000 \ud800`),
    ),
    oddJson,
  )
  .map(([name, value]) => `"${name}": ${value}`)

/** The bodies that are right on some route; each `?` is a hole where something odd may go instead. */
const TEMPLATES = (known: Known): string[] => {
  const terms =
    '{"total": ?5?, "reserved": ?0?, "min_unit": ?1?, "max_unit": ?5?, "step_size": ?1?, "allocation_ratio": ?1.5?}'
  const owner = '"project_id": ?"p"?, "user_id": ?"u"?'
  const resources = `{"${known.provider}": {"resources": {"VCPU": ?1?}}}`
  const consumer = `{"allocations": ?${resources}?, ${owner}, "consumer_generation": ?1?, "consumer_type": ?"INSTANCE"?}`
  const inventories = `{"inventories": ?{"VCPU": ?${terms}?}?, "resource_provider_generation": ?1?}`
  return [
    '{"name": ?"odd"?, "uuid": ?"6d0e4ae7-2f1c-4a55-a3f5-9c7f6d1a6f0a"?, "parent_provider_uuid": ?null?}',
    '{"name": ?"CUSTOM_ODD"?}',
    inventories,
    `{"resource_class": ?"MEMORY_MB"?, "total": ?5?, "allocation_ratio": ?1?}`,
    '{"total": ?5?, "resource_provider_generation": ?1?}',
    '{"traits": ?[?"HW_CPU_X86_AVX2"?]?, "resource_provider_generation": ?1?}',
    '{"aggregates": ?[?"6d0e4ae7-2f1c-4a55-a3f5-9c7f6d1a6f0a"?]?, "resource_provider_generation": ?1?}',
    consumer,
    `{"allocations": [{"resource_provider": {"uuid": ?"${known.provider}"?}, "resources": {"VCPU": ?1?}}], ${owner}}`,
    `{"${known.consumer}": ?${consumer}?}`,
    `{"inventories": ?{"${known.provider}": ?${inventories}?}?, "allocations": ?{"${known.consumer}": ?${consumer}?}?}`,
  ]
}

/** A body that was right until one of its values, or a further member, became odd. */
const spoiled = (known: Known) =>
  fc
    .tuple(fc.constantFrom(...TEMPLATES(known)), fc.nat(), fc.option(oddJson), fc.option(oddMember))
    .map(([template, hole, value, member]) => {
      const parts = template.split('?')
      const at = hole % parts.length
      // Nested holes make some of these no JSON at all, which is as good.
      if (value !== null) parts[at] = at % 2 === 1 ? value : parts[at]!
      const text = parts.join('')
      return member === null ? text : text.replace('{', `{${member}, `)
    })

const brokenText = fc.constantFrom(
  '',
  '{"name": }',
  '{"a": 1,}',
  '{} {}',
  "{'a': 1}",
  ...words('{ [ " {"name" nul \ufeff{} [1,] 01 +1'),
)
const brokenBytes = fc.oneof(
  fc.constantFrom(Buffer.from([0xff, 0xfe]), Buffer.from('{"name": "\xff"}', 'latin1'), Buffer.from('{}', 'utf16le')),
  fc.constantFrom(Buffer.from([0]), Buffer.from('{"name": "a\0b"}'), Buffer.from([0x7b, 0xed, 0xa0, 0x80, 0x7d])),
  fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
)

const bodies = (known: Known) =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: brokenText },
    { weight: 1, arbitrary: brokenBytes },
    { weight: 1, arbitrary: oddJson },
    { weight: 6, arbitrary: spoiled(known) },
  )

const ROUTES = [
  '',
  ...words('/ /ODD /resource_providers /resource_providers/P /resource_providers/ODD /resource_providers/ODD/traits'),
  ...['inventories', 'inventories/VCPU', 'inventories/ODD'].map(what => `/resource_providers/P/${what}`),
  ...['usages', 'aggregates', 'allocations', 'traits'].map(what => `/resource_providers/P/${what}`),
  ...words('/resource_classes /resource_classes/ODD /traits /traits/ODD /usages /reshaper /allocation_candidates'),
  ...words('/allocations /allocations/C /allocations/ODD'),
]

const QUERIES = [
  '',
  ...words('name uuid project_id user_id consumer_type associated in_tree member_of required resources x __proto__'),
  ...words(
    'limit group_policy same_subtree root_required resources1 required_a in_tree1 member_of-b resources__proto__',
  ),
]

/** Values of filters that are right, or were until their last character. */
const nearlyRight = fc.constantFrom(
  ...words('VCPU:1 VCPU:1, VCPU:0 VCPU:-1 VCPU:1e3 VCPU:99999999999999999999 VCPU VCPU: :1 NONE:1 1 0 none isolate'),
  ...words('HW_CPU_X86_AVX2 !HW_CPU_X86_AVX2 !! in: in:, in:HW_CPU_X86_AVX2, _a _a,_b , 1,_a ! !in: !in:x'),
)

const paths = (known: Known) =>
  fc
    .tuple(
      fc.constantFrom(...ROUTES),
      oddText,
      fc.array(fc.tuple(fc.constantFrom(...QUERIES), fc.oneof(oddText, nearlyRight)), { maxLength: 3 }),
    )
    .map(([route, odd, query]) => {
      const path = route.replace('P', known.provider).replace('C', known.consumer).replace('ODD', onTheLine(odd))
      const search = query.map(([name, value]) => `${name}=${onTheLine(value)}`).join('&')
      return search ? `${path}?${search}` : path
    })

/** As much of a text as a client can put on the request line without Node's help. */
const onTheLine = (text: string) =>
  text.replaceAll(/[^\x21-\x7e]|[#?]/g, c => (c.isWellFormed() ? encodeURIComponent(c) : '%ed%a0%80'))

const versions = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 39 }).map(minor => `placement 1.${minor}`) },
  { weight: 1, arbitrary: fc.integer({ min: -1, max: 9999 }).map(minor => `placement 1.${minor}`) },
  { weight: 1, arbitrary: fc.integer({ min: -1, max: 9999 }).map(major => `placement ${major}.0`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'placement',
      'placement ',
      '1.5',
      'latest',
      'placement latest',
      ',',
      'placement 1.5.5',
      'é',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }).map(text => text.replaceAll(/[^\x20-\x7e]/g, '?')) },
  { weight: 1, arbitrary: fc.constant(undefined) },
)

const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      ...words('application/json application/json APPLICATION/JSON text/plain application/xml ; é /'),
      '',
      'application/json; charset=utf-8',
      'multipart/form-data; boundary=x',
    ),
    accept: fc.constantFrom('', ...words('*/* application/json text/html text/plain é ;q= a/b;q=x ,,,')),
    'x-roles': fc.constantFrom('admin', '', ',', 'é'),
  },
  { requiredKeys: [] },
)

const METHODS = words('GET PUT POST DELETE PATCH HEAD OPTIONS TRACE PROPFIND PURGE REPORT')

export const badRequests = (known: Known): fc.Arbitrary<BadRequest> =>
  fc.record({
    method: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('PUT', 'POST') },
      { weight: 2, arbitrary: fc.constantFrom(...METHODS) },
    ),
    path: paths(known),
    version: versions,
    body: bodies(known),
    headers,
  })
