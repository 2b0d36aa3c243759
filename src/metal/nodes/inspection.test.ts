// Inspection rules: conditions on what was found, and what they set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_RULES } from './inspection-defaults.ts'
import { applyRules, type InspectionRule, wrongIn } from './inspection.ts'

const trait = (when: InspectionRule['when']): InspectionRule => ({
  ...(when && { when }),
  set: { traits: ['CUSTOM_X'] },
})
const holds = (found: Record<string, unknown>, field: string, op: string, value?: string | number | boolean) =>
  applyRules([trait([{ field, op, ...(value !== undefined && { value }) } as never])], found).traits.length === 1

void test('each condition', () => {
  const found = { cpus: 8, arch: 'x86_64', gpu: { model: 'A100', memory: 80 }, nics: ['a', 'b'] }
  assert.ok(holds(found, 'cpus', 'eq', 8) && !holds(found, 'cpus', 'eq', '8'))
  assert.ok(holds(found, 'cpus', 'ne', 4) && !holds(found, 'cpus', 'ne', 8))
  assert.ok(holds(found, 'cpus', 'gt', 7) && !holds(found, 'cpus', 'gt', 8))
  assert.ok(holds(found, 'cpus', 'ge', 8) && holds(found, 'cpus', 'le', 8) && holds(found, 'cpus', 'lt', 9))
  assert.ok(holds(found, 'gpu.model', 'matches', 'A1\\d+') && !holds(found, 'gpu.model', 'matches', 'A'))
  assert.ok(holds(found, 'nics', 'contains', 'b') && holds(found, 'arch', 'contains', '86'))
  assert.ok(holds(found, 'gpu.memory', 'present') && !holds(found, 'gpu.nothing.deeper', 'present'))
  assert.ok(!holds(found, 'constructor', 'present') && !holds(found, 'nothing', 'gt', 1))
})

void test('what is missing, blank or no scalar satisfies no comparison', () => {
  const found = { nothing: null, empty: '', blank: ' ', nested: { object: 1 }, list: [], size: '8', ready: true }
  assert.ok(!holds(found, 'missing', 'contains', 'undef') && !holds(found, 'nothing', 'contains', 'null'))
  assert.ok(!holds(found, 'nested', 'contains', 'object'))
  assert.ok(holds(found, 'size', 'contains', 8) && holds(found, 'ready', 'contains', 'true'))
  for (const field of ['missing', 'nothing', 'empty', 'blank', 'nested', 'list']) {
    for (const op of ['lt', 'le']) assert.ok(!holds(found, field, op, 9), `${field} ${op} 9`)
    for (const op of ['gt', 'ge']) assert.ok(!holds(found, field, op, -1), `${field} ${op} -1`)
  }
  assert.ok(holds(found, 'size', 'gt', 7) && holds(found, 'size', 'le', '8'))
})

void test('all conditions of a rule must hold; the last class wins, traits add up', () => {
  const rules: InspectionRule[] = [
    { set: { resource_class: 'one', traits: ['CUSTOM_A'], properties: { a: 1 } } },
    {
      when: [
        { field: 'cpus', op: 'gt', value: 1 },
        { field: 'cpus', op: 'lt', value: 2 },
      ],
      set: { resource_class: 'never' },
    },
    { when: [{ field: 'cpus', op: 'gt', value: 1 }], set: { resource_class: 'two', traits: ['CUSTOM_B'] } },
  ]
  const expected = { resourceClass: 'two', traits: ['CUSTOM_A', 'CUSTOM_B'], properties: { a: 1 }, invalid: [] }
  assert.deepEqual(applyRules(rules, { cpus: 4 }), expected)
  assert.deepEqual(wrongIn([{ set: { traits: ['CUSTOM_A', 'nonsense'] } }]), ['nonsense'])
  assert.deepEqual(wrongIn([trait([{ field: 'a', op: 'matches', value: '(' }])]), ['('])
})

void test('of the elements of a list any may hold; ne: none is equal', () => {
  const found = { gpus: [{ vendor: 'NVIDIA', memory_mb: 40_960 }, { vendor: 'AMD' }], speeds: [1_000, 25_000] }
  assert.ok(holds(found, 'gpus.vendor', 'eq', 'AMD') && holds(found, 'gpus.memory_mb', 'ge', 40_000))
  assert.ok(!holds(found, 'gpus.vendor', 'ne', 'AMD') && holds(found, 'gpus.vendor', 'ne', 'Intel'))
  assert.ok(holds(found, 'gpus.length', 'eq', 2) && holds(found, 'gpus.1.vendor', 'eq', 'AMD'))
  assert.ok(holds(found, 'gpus.vendor', 'matches', 'NV.*') && !holds(found, 'gpus.model', 'present'))
  assert.ok(holds(found, 'speeds', 'ge', 25_000) && !holds(found, 'speeds', 'gt', 25_000))
  assert.ok(holds(found, 'gpus.vendor', 'contains', 'VIDI') && !holds(found, 'speeds', 'contains', 25))
})

const set = (what: InspectionRule['set'], found: Record<string, unknown>) => applyRules([{ set: what }], found)

void test('a placeholder that names a list gives one trait for each distinct value', () => {
  const found = { gpus: [{ model: 'NVIDIA A100-PCIE (40GB)' }, { model: 'NVIDIA A100-PCIE (40GB)' }, { model: 'L4' }] }
  assert.deepEqual(set({ traits: ['CUSTOM_GPU_{gpus.model}'] }, found).traits, [
    'CUSTOM_GPU_NVIDIA_A100_PCIE_40GB',
    'CUSTOM_GPU_L4',
  ])
  assert.deepEqual(set({ traits: ['CUSTOM_{gpus.length}_{gpus.model}'] }, found).traits.length, 2)
})

void test('a placeholder without a value sets nothing, and what is no trait is told apart', () => {
  const found = { cpu_arch: 'riscv64', vendor: '  ', long: 'x'.repeat(300) }
  const findings = set(
    {
      traits: ['CUSTOM_{nothing}', 'CUSTOM_{vendor}', 'HW_ARCH_{cpu_arch}', 'CUSTOM_{long}'],
      resource_class: 'gpu-{nothing}',
      properties: { model: '{nothing}' },
    },
    found,
  )
  const expected = {
    resourceClass: null,
    traits: [`CUSTOM_${'X'.repeat(248)}`],
    properties: {},
    invalid: ['HW_ARCH_RISCV64'],
  }
  assert.deepEqual(findings, expected)
})

void test('placeholders in the class and in properties', () => {
  const found = { gpus: [{ model: 'Tesla T4' }, { model: 'L4' }], gpu_count: 2, product: 'R740 ' }
  const findings = set(
    {
      resource_class: 'gpu-{gpus.model}',
      properties: { gpus: '{gpu_count}', model: '{product}', both: '{gpus.model}', text: '{gpu_count} × {product}' },
    },
    found,
  )
  assert.equal(findings.resourceClass, 'gpu-tesla-t4')
  assert.deepEqual(findings.properties, { gpus: 2, model: 'R740 ', both: 'Tesla T4, L4', text: '2 × R740' })
})

void test('templates that can never be a trait are refused at the start', () => {
  const wrong = [
    'CUSTOM_{',
    'CUSTOM_{}',
    'CUSTOM_{a..b}',
    'GPU_{model}',
    'CUSTOM_{{a}}',
    'HW_NONSENSE_{a}',
    'custom_{a}',
  ]
  assert.deepEqual(wrongIn([{ set: { traits: [...wrong, 'CUSTOM_{a.b}', 'HW_ARCH_{a}', '{a}'] } }]), wrong)
  assert.deepEqual(wrongIn([{ set: { resource_class: 'gpu-{' } }]), ['gpu-{'])
  assert.deepEqual(wrongIn(DEFAULT_RULES), [])
})

void test('the default rules name what a machine is', () => {
  const found = {
    cpu_arch: 'x86_64',
    vendor: 'Dell Inc.',
    product: 'PowerEdge XE8545',
    serial: 'ABC1234',
    gpu_count: 4,
    gpus: [{ model: 'NVIDIA A100-SXM4-40GB' }],
    accelerators: [{ type: 'FPGA' }],
    cpu: { hyperthreading: true },
    disks: [{ media_type: 'HDD' }, { media_type: 'SSD', protocol: 'NVMe' }],
    boot: { current_boot_mode: 'uefi', secure_boot: true },
    tpm: { version: '2.0' },
  }
  const { resourceClass, traits, properties } = applyRules(DEFAULT_RULES, found)
  assert.equal(resourceClass, 'baremetal')
  assert.deepEqual(traits, [
    'HW_ARCH_X86_64',
    'CUSTOM_VENDOR_DELL_INC',
    'CUSTOM_MODEL_POWEREDGE_XE8545',
    'CUSTOM_GPU_NVIDIA_A100_SXM4_40GB',
    'CUSTOM_GPU',
    'CUSTOM_GPU_COUNT_4',
    'CUSTOM_FPGA',
    'HW_CPU_HYPERTHREADING',
    'STORAGE_DISK_SSD',
    'CUSTOM_NVME',
    'CUSTOM_UEFI',
    'CUSTOM_SECURE_BOOT',
    'CUSTOM_TPM_2_0',
  ])
  assert.deepEqual(properties, { model: 'PowerEdge XE8545', serial: 'ABC1234', gpu: 'NVIDIA A100-SXM4-40GB' })
  assert.deepEqual(applyRules(DEFAULT_RULES, {}), {
    resourceClass: 'baremetal',
    traits: [],
    properties: {},
    invalid: [],
  })
})
