// The rules that are in force where the operator gives none: a machine that was just racked can be allocated by what it
// is, without anyone typing it. Standard traits where their meaning fits; those of COMPUTE_… speak of hypervisors.
import type { InspectionRule } from './inspection.ts'

export const DEFAULT_RULES: InspectionRule[] = [
  {
    set: {
      resource_class: 'baremetal',
      traits: ['HW_ARCH_{cpu_arch}', 'CUSTOM_VENDOR_{vendor}', 'CUSTOM_MODEL_{product}', 'CUSTOM_GPU_{gpus.model}'],
      properties: { model: '{product}', serial: '{serial}', gpu: '{gpus.model}' },
    },
  },
  {
    when: [{ field: 'gpu_count', op: 'ge', value: 1 }],
    set: { traits: ['CUSTOM_GPU', 'CUSTOM_GPU_COUNT_{gpu_count}'] },
  },
  { when: [{ field: 'accelerators.type', op: 'eq', value: 'FPGA' }], set: { traits: ['CUSTOM_FPGA'] } },
  { when: [{ field: 'cpu.hyperthreading', op: 'eq', value: true }], set: { traits: ['HW_CPU_HYPERTHREADING'] } },
  { when: [{ field: 'disks.media_type', op: 'eq', value: 'SSD' }], set: { traits: ['STORAGE_DISK_SSD'] } },
  { when: [{ field: 'disks.protocol', op: 'eq', value: 'NVMe' }], set: { traits: ['CUSTOM_NVME'] } },
  { when: [{ field: 'boot.current_boot_mode', op: 'eq', value: 'uefi' }], set: { traits: ['CUSTOM_UEFI'] } },
  { when: [{ field: 'boot.secure_boot', op: 'eq', value: true }], set: { traits: ['CUSTOM_SECURE_BOOT'] } },
  { set: { traits: ['CUSTOM_TPM_{tpm.version}'] } },
]
