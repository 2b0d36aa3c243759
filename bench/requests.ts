// The requests of the benches as bytes, built by concatenation so that formatting costs almost nothing.

export const CLASSES = ['VCPU', 'MEMORY_MB', 'DISK_GB'] as const
const MICROVERSION = '1.38'

function head(method: string, path: string): string {
  return (
    `${method} /placement${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\n` +
    `openstack-api-version: placement ${MICROVERSION}\r\n`
  )
}

export function withBody(method: string, path: string, body: string): string {
  return `${head(method, path)}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

function consumerBody(provider: string, classes: number): string {
  const resources = CLASSES.slice(0, classes).map(name => `"${name}":1`)
  return (
    `{"allocations":{"${provider}":{"resources":{${resources.join(',')}}}},"project_id":"bench-project",` +
    `"user_id":"bench-user","consumer_generation":null,"consumer_type":"INSTANCE"}`
  )
}

export function putAllocation(consumer: string, provider: string, classes: number): string {
  return withBody('PUT', `/allocations/${consumer}`, consumerBody(provider, classes))
}

export function postAllocations(claims: readonly { consumer: string; provider: string }[], classes: number): string {
  const members = claims.map(({ consumer, provider }) => `"${consumer}":${consumerBody(provider, classes)}`)
  return withBody('POST', '/allocations', `{${members.join(',')}}`)
}

export function deleteAllocation(consumer: string): string {
  return `${head('DELETE', `/allocations/${consumer}`)}\r\n`
}

export function createProvider(uuid: string): string {
  return withBody('POST', '/resource_providers', JSON.stringify({ name: `bench-${uuid}`, uuid }))
}

export function setInventories(provider: string, total: number): string {
  const inventories = Object.fromEntries(CLASSES.map(name => [name, { total }]))
  const body = JSON.stringify({ resource_provider_generation: 0, inventories })
  return withBody('PUT', `/resource_providers/${provider}/inventories`, body)
}
