import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../shared/usage-error.ts'
import { catalogOf, type ComputeSetting, regionsOf, servicesIn, wronglyOwn } from './catalog.ts'
import { readCatalog } from './catalog-setting.ts'

const PATHS = {
  identity: '/identity',
  placement: '/placement',
  baremetal: '/baremetal',
  compute: '/compute/v2.1',
  image: '/image',
  reservation: '/reservation/v1',
}
const OWN: ComputeSetting = { compute: 'own', novaUrl: null }
const READER = { project: 'p1', user: 'u1' }

interface Shown {
  type: string
  name: string
  endpoints: { id: string; interface: string; region: string; url: string }[]
}
const shown = (setting: object, compute = OWN, reader: { project: string | null; user: string | null } = READER) =>
  catalogOf(servicesIn(PATHS, readCatalog({ ...setting }), compute), 'http://here', reader) as Shown[]
const linesOf = (type: string, ...args: Parameters<typeof shown>) =>
  shown(...args)
    .filter(service => service.type === type)
    .flatMap(({ name, endpoints }) => endpoints.map(one => `${name} ${one.region} ${one.interface} ${one.url}`))

test('without a setting all services are ours, with the same URL for each interface', () => {
  assert.deepEqual(
    shown({}).map(({ type, name, endpoints }) => [type, name, new Set(endpoints.map(({ url }) => url)).size]),
    [
      ['identity', 'keystone', 1],
      ['placement', 'placement', 1],
      ['baremetal', 'ironic', 1],
      ['compute', 'nova', 1],
      ['image', 'glance', 1],
      ['reservation', 'blazar', 1],
    ],
  )
})

test('compute is where Nova is, and nowhere when it is off', () => {
  const nova: ComputeSetting = { compute: 'nova', novaUrl: 'http://nova/v2.1' }
  assert.deepEqual(linesOf('compute', {}, nova), [
    'nova RegionOne public http://nova/v2.1',
    'nova RegionOne internal http://nova/v2.1',
    'nova RegionOne admin http://nova/v2.1',
  ])
  assert.deepEqual(linesOf('compute', {}, { compute: 'off', novaUrl: 'http://nova/v2.1' }), [])
  assert.deepEqual(linesOf('compute', { compute: { public: 'https://cloud/v2.1', admin: 'hidden' } }, nova), [
    'nova RegionOne public https://cloud/v2.1',
    'nova RegionOne internal http://nova/v2.1',
  ])
})

test('a service is ours, hidden or elsewhere, for each region and interface', () => {
  assert.deepEqual(linesOf('image', { image: 'hidden' }), [])
  assert.deepEqual(linesOf('image', { image: { name: 'images', url: 'http://g', public: 'own' } }), [
    'images RegionOne public http://here/image',
    'images RegionOne internal http://g',
    'images RegionOne admin http://g',
  ])
  const regions = { image: { regions: { RegionTwo: { public: 'http://two' }, Three: 'own' } } }
  assert.deepEqual(linesOf('image', regions), [
    'glance RegionOne public http://here/image',
    'glance RegionOne internal http://here/image',
    'glance RegionOne admin http://here/image',
    'glance RegionTwo public http://two',
    'glance Three public http://here/image',
    'glance Three internal http://here/image',
    'glance Three admin http://here/image',
  ])
  assert.deepEqual(regionsOf(servicesIn(PATHS, readCatalog(regions), OWN)), ['RegionOne', 'RegionTwo', 'Three'])
  const ids = shown(regions).flatMap(({ endpoints }) => endpoints.map(({ id }) => id))
  assert.equal(new Set(ids).size, ids.length)
})

test('services that we do not have come after ours, with the ids of project and user in their URLs', () => {
  const setting = {
    network: 'http://n:9696',
    volumev3: { name: 'cinderv3', public: 'http://c/v3/$(project_id)s', admin: 'http://c/%(user_id)s' },
  }
  assert.deepEqual(linesOf('network', setting).slice(0, 1), ['network RegionOne public http://n:9696'])
  assert.deepEqual(linesOf('volumev3', setting), [
    'cinderv3 RegionOne public http://c/v3/p1',
    'cinderv3 RegionOne admin http://c/u1',
  ])
  assert.deepEqual(linesOf('volumev3', setting, OWN, { project: null, user: null }), [])
})

test('a wrong entry is named, with what would be right', () => {
  for (const [setting, words] of [
    [{ image: 'nowhere' }, /^catalog: image must be own, hidden, or an http/],
    [{ image: 7 }, /^catalog: image must be own/],
    [{ image: 'http://me:secret@glance' }, /^catalog: image must be own, hidden, or an http\(s\) URL without a user$/],
    [{ image: { regions: { A: { public: 'ftp://x' } } } }, /^catalog: image\.regions\.A\.public must be own/],
    [{ image: { regions: { A: 'own' }, public: 'own' } }, /^catalog: image has regions, so public belong below/],
    [{ image: { regions: [] } }, /^catalog: image\.regions must name regions/],
    [{ image: { regions: { '\n': 'own' } } }, /no name of a region/],
    [{ image: { pubic: 'own' } }, /^catalog: image has 'pubic'; there are name, url, public/],
    [{ image: { name: '' } }, /^catalog: image\.name is no name/],
    [{ 'Im age': 'own' }, /^catalog: 'Im age' is no type of a service/],
    [Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`s${i}`, 'hidden'])), /at most 64 services, not 65/],
  ] as const) {
    assert.throws(
      () => readCatalog(setting),
      (error: Error) => error instanceof UsageError && words.test(error.message),
      JSON.stringify(setting),
    )
  }
})

test('nothing is own that is not here', () => {
  const nova = { compute: 'nova' } as const
  assert.equal(wronglyOwn(readCatalog({ network: { public: 'own' } }), OWN), 'network')
  assert.equal(wronglyOwn(readCatalog({ compute: 'own', image: 'own' }), OWN), null)
  assert.equal(wronglyOwn(readCatalog({ compute: 'own', image: 'own' }), nova), 'compute')
})
