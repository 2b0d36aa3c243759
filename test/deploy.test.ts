// The files in deploy/ say nothing that isn't so: each process starts with the settings that they give it, and every setting,
// path, port and metric that they name is there.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { environmentName, SETTINGS } from '../src/config/settings.ts'
import { connect } from '../src/client/index.ts'
import { sharedPostgres } from './support/postgres.ts'
import { runHoldfast, type Server, startServer } from './support/server.ts'

const ROOT = new URL('..', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')
const files = globSync('deploy/**/*', { cwd: ROOT.pathname, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => `${entry.parentPath}/${entry.name}`.replace(ROOT.pathname, ''))

/** What a process is started with: its words and its environment. */
interface Start {
  name: string
  args: string[]
  environment: Record<string, string>
}

type Environment = Record<string, string>

/** The lines `NAME=value` of a file for systemd. */
const assignments = (text: string): Environment =>
  Object.fromEntries(
    [...text.matchAll(/^(?:Environment=)?(HOLDFAST_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  )

function ofSystemd(): Start[] {
  const shared = assignments(read('deploy/systemd/holdfast.env'))
  return files
    .filter(file => file.endsWith('.service'))
    .map(name => {
      const text = read(name)
      const [, words] = /^ExecStart=\/opt\/holdfast\/node_modules\/\.bin\/holdfast (.*)$/m.exec(text)!
      return { name, args: words!.replace('%i', '8781').split(' '), environment: { ...shared, ...assignments(text) } }
    })
}

interface ComposeService {
  image: string
  command: string[]
  environment: Environment
}

function ofCompose(): Start[] {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, ComposeService>
  }
  return Object.entries(services)
    .filter(([, { image }]) => image === 'holdfast')
    .map(([name, { command, environment }]) => ({
      name: `compose ${name}`,
      args: command,
      environment: Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [key, value.replace('${POSTGRES_PASSWORD:?}', 'secret')]),
      ),
    }))
}

interface Container {
  name: string
  args: string[]
  ports?: { containerPort: number }[]
  livenessProbe?: { httpGet: { path: string } }
  readinessProbe?: { httpGet: { path: string } }
}
interface Deployment {
  kind: string
  metadata: { name: string }
  spec: { template: { spec: { initContainers: Container[]; containers: Container[] } } }
}

const documentsIn = (file: string) => parseAllDocuments(read(file)).map(document => document.toJS() as Deployment)
const deployments = ['api', 'conductor']
  .flatMap(name => documentsIn(`deploy/kubernetes/base/${name}.yaml`))
  .filter(({ kind }) => kind === 'Deployment')
const { data: settings } = parse(read('deploy/kubernetes/base/config.yaml')) as { data: Environment }

function ofKubernetes(): Start[] {
  const environment = { ...settings, HOLDFAST_DATABASE: 'postgres://holdfast:secret@db/holdfast' }
  return deployments.flatMap(({ metadata, spec: { template } }) =>
    [...template.spec.initContainers, ...template.spec.containers].map(({ name, args }) => ({
      name: `kubernetes ${metadata.name} ${name}`,
      args,
      environment,
    })),
  )
}

for (const { name, args, environment } of [...ofSystemd(), ...ofCompose(), ...ofKubernetes()]) {
  test(`${name} starts with settings that fit together`, async () => {
    const { code, stdout, stderr } = await runHoldfast([...args, '--print-config'], environment).exit
    assert.equal(code, 0, stderr)
    const { port, 'conductor-port': conductorPort } = parse(stdout) as Record<string, unknown>
    assert.equal(typeof port, 'number')
    if (args[0] === 'conductor') assert.notEqual(conductorPort, 0, 'so that it can be watched')
  })
}

test('the image alone lets nobody in before it is told whom', async () => {
  const [, environment] = /^ENV (.*)$/m.exec(read('deploy/Dockerfile'))!
  const { code, stderr } = await runHoldfast(
    ['serve', '--print-config'],
    assignments(environment!.replaceAll(' ', '\n')),
  ).exit
  assert.equal(code, 2)
  assert.match(stderr, /use --auth password or keystone/)
})

test('every setting that is named is one', () => {
  const known = new Set((Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]).map(environmentName))
  for (const file of files) {
    for (const [name] of read(file).matchAll(/HOLDFAST_[A-Z_]+/g)) assert.ok(known.has(name), `${file}: ${name}`)
  }
})

test('YAML and JSON can be read, and kustomizations name files that are there', () => {
  for (const file of files.filter(each => /\.(ya?ml|json)$/.test(each))) {
    for (const document of parseAllDocuments(read(file), { merge: true })) assert.deepEqual(document.errors, [], file)
  }
  for (const folder of ['base', 'example']) {
    const { resources } = parse(read(`deploy/kubernetes/${folder}/kustomization.yaml`)) as { resources: string[] }
    for (const resource of resources.filter(each => each.endsWith('.yaml'))) {
      assert.ok(files.includes(`deploy/kubernetes/${folder}/${resource}`), resource)
    }
  }
})

/** What of these documents is looked at. */
interface Document {
  kind: string
  metadata: { name: string }
  spec: {
    template: { spec: { volumes: { secret?: { defaultMode: number } }[] } }
    ports: { targetPort: string }[]
    ingress: { from?: unknown[]; ports: { port: string }[] }[]
  }
}

test('whoever reaches the port of a pod can claim no address, reads no secret and no metrics', () => {
  assert.equal(settings['HOLDFAST_TRUST_FORWARDED'], undefined)
  const all = ['api', 'conductor', 'network-policy'].flatMap(name => {
    return parseAllDocuments(read(`deploy/kubernetes/base/${name}.yaml`)).map(document => document.toJS())
  }) as Document[]
  for (const { spec } of all.filter(({ kind }) => kind === 'Deployment')) {
    for (const { secret } of spec.template.spec.volumes) if (secret) assert.equal(secret.defaultMode, 0o400)
  }
  const service = all.find(({ kind }) => kind === 'Service')!
  assert.deepEqual(
    service.spec.ports.map(({ targetPort }) => targetPort),
    ['http'],
  )
  const [api] = deployments
  const ports = api!.spec.template.spec.containers[0]!.ports!.map(({ containerPort }) => containerPort)
  assert.deepEqual(ports, [settings['HOLDFAST_PORT'], settings['HOLDFAST_METRICS_PORT']].map(Number))
  for (const { metadata, spec } of all.filter(({ kind }) => kind === 'NetworkPolicy')) {
    for (const { from, ports } of spec.ingress) {
      const isOpen = metadata.name === 'holdfast-api' && ports[0]!.port === 'http'
      assert.equal(from === undefined, isOpen, metadata.name)
    }
  }
})

test('the containers of compose can gain no rights', () => {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, Record<string, unknown>>
  }
  for (const [name, service] of Object.entries(services)) {
    assert.deepEqual([service['cap_drop'], service['security_opt']], [['ALL'], ['no-new-privileges:true']], name)
    if (name !== 'postgres') assert.equal(service['read_only'], true, name)
  }
})

test('probes ask the port that the process listens on', () => {
  for (const { spec } of deployments) {
    for (const { args, ports } of spec.template.spec.containers) {
      const port = args[0] === 'conductor' ? settings['HOLDFAST_CONDUCTOR_PORT'] : settings['HOLDFAST_PORT']
      assert.equal(ports![0]!.containerPort, Number(port))
    }
  }
})

test('Prometheus asks the processes that systemd starts, and the proxies are before the same', () => {
  const conductor = assignments(read('deploy/systemd/holdfast-conductor.service'))['HOLDFAST_CONDUCTOR_PORT']!
  const asked = read('deploy/prometheus/prometheus.yaml')
  assert.ok(asked.includes(`127.0.0.1:${conductor}`))
  for (const proxy of ['deploy/nginx.conf', 'deploy/Caddyfile']) {
    for (const address of ['127.0.0.1:8781', '127.0.0.1:8782']) {
      assert.ok(read(proxy).includes(address), proxy)
      assert.ok(asked.includes(address))
    }
  }
})

describe('on a server that has something to tell', () => {
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let server: Server
  let text = ''
  const known = new Map<string, Set<string>>()

  before(async () => {
    postgres = await sharedPostgres()
    server = await startServer(await postgres.createDatabase(), { auth: 'none', placementPolicy: 'open' })
    const { nodes, allocations } = await connect({ url: server.origin, env: {} })
    await nodes.create({ driver: 'fake-hardware', name: 'n1', resource_class: 'gpu' })
    await allocations.create({ resource_class: 'gpu' })
    text = await (await fetch(`${server.origin}/metrics`)).text()
    for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
      for (const ending of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
        known.set(name + ending, new Set())
    }
    for (const [, name, labels] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
      for (const [, label] of labels!.matchAll(/(\w+)="/g)) known.get(name!)?.add(label!)
    }
  })
  after(async () => {
    await server.stop()
    await postgres.stop()
  })

  test('the paths that are probed and scraped answer', async () => {
    const probes = deployments.flatMap(({ spec }) => spec.template.spec.containers)
    const paths = probes.flatMap(({ livenessProbe, readinessProbe }) => [livenessProbe!, readinessProbe!])
    for (const { httpGet } of paths) assert.equal((await fetch(server.origin + httpGet.path)).status, 200, httpGet.path)
  })

  /** Fails where an expression asks for a metric or a label that no server has. */
  function checkExpression(expression: string): void {
    const metrics = [...expression.matchAll(/\b((?:holdfast|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)]
    for (const [, name, matchers = ''] of metrics) {
      const labels = known.get(name!)
      assert.ok(labels, `${name} is no metric: ${expression}`)
      for (const [, label] of matchers.matchAll(/(\w+)\s*[=!]~?/g)) {
        const isThere: boolean = label === 'instance' || label === 'job' || labels.has(label!) || labels.size === 0
        assert.ok(isThere, `${name} has no label ${label}: ${expression}`)
      }
    }
  }

  interface Panel {
    type: string
    title: string
    targets?: { expr: string }[]
  }

  test('every panel of the dashboard asks for metrics that there are', () => {
    const { panels } = JSON.parse(read('deploy/grafana/holdfast.json')) as { panels: Panel[] }
    assert.ok(panels.length > 30)
    for (const { type, title, targets = [] } of panels) {
      assert.equal(targets.length === 0, type === 'row', title)
      for (const { expr } of targets) {
        assert.match(expr, /holdfast_|nodejs_|process_/)
        checkExpression(expr)
      }
    }
  })

  const { groups } = parse(read('deploy/prometheus/alerts.yaml')) as {
    groups: { rules: { alert: string; expr: string }[] }[]
  }
  const rules = groups.flatMap(group => group.rules)

  test('every alert asks for metrics that there are, and has a line in docs/MONITORING.md', () => {
    for (const { expr } of rules) checkExpression(expr)
    const documented = [...read('docs/MONITORING.md').matchAll(/^\| `(Holdfast\w+)` \|/gm)].map(([, name]) => name)
    assert.deepEqual(
      rules.map(({ alert }) => alert),
      documented,
    )
  })

  test('docs/MONITORING.md names every metric of ours, and no other', () => {
    const own = [...text.matchAll(/^# TYPE (holdfast_\w+)/gm)].map(([, name]) => name!)
    const documented = [...read('docs/MONITORING.md').matchAll(/^\| `(holdfast_\w+)` \|/gm)].map(([, name]) => name!)
    assert.deepEqual(documented.toSorted(), own.toSorted())
  })
})
