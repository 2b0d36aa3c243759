// What a test BMC has: the resources of its machines, as plain JSON that tests may change at will.
import type { Json } from '../../src/shared/json.ts'

export interface MachineOptions {
  /** The last part of its path; 1, 2, … unless given. */
  id?: string
  uuid?: string
  power?: 'On' | 'Off'
  cpus?: number
  memoryGib?: number
  macs?: readonly string[]
  disksBytes?: readonly number[]
  gpus?: readonly { manufacturer: string; model: string; vendorId: string; deviceId: string }[]
  bootTargets?: readonly string[]
  resetTypes?: readonly string[]
}

export interface PlaceOptions {
  /** In front of /redfish/v1. */
  prefix: string
  mediaOn: 'System' | 'Manager'
  hasSessions: boolean
  machines: readonly MachineOptions[]
}

export const RESET_TYPES = ['On', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'Nmi']
export const BOOT_TARGETS = ['None', 'Pxe', 'Cd', 'Hdd', 'BiosSetup', 'UefiHttp']
const GIB = 1024 ** 3

export type Resources = Map<string, Json>

export function resourcesOf(options: PlaceOptions): Resources {
  const root = `${options.prefix}/redfish/v1`
  const all: Resources = new Map()
  const put = (path: string, body: Json) => {
    all.set(path, { '@odata.id': path, Id: path.split('/').at(-1), Name: path.split('/').at(-1), ...body })
    return path
  }
  const list = (path: string, members: readonly string[]) =>
    put(path, { Members: members.map(linkTo), 'Members@odata.count': members.length })
  put(root, {
    '@odata.id': `${root}/`,
    RedfishVersion: '1.17.0',
    Vendor: 'Holdfast',
    Systems: linkTo(`${root}/Systems`),
    Managers: linkTo(`${root}/Managers`),
    Chassis: linkTo(`${root}/Chassis`),
    UpdateService: linkTo(`${root}/UpdateService`),
    Registries: linkTo(`${root}/Registries`),
    ...(options.hasSessions
      ? {
          SessionService: linkTo(`${root}/SessionService`),
          Links: { Sessions: linkTo(`${root}/SessionService/Sessions`) },
        }
      : {}),
  })
  if (options.hasSessions) {
    put(`${root}/SessionService`, { SessionTimeout: 1800, Sessions: linkTo(`${root}/SessionService/Sessions`) })
    list(`${root}/SessionService/Sessions`, [])
  }
  const ids = options.machines.map(({ id }, at) => id ?? String(at + 1))
  for (const kind of ['Systems', 'Managers', 'Chassis'])
    list(
      `${root}/${kind}`,
      ids.map(id => `${root}/${kind}/${id}`),
    )
  options.machines.forEach((machine, at) =>
    addMachine({ put, list, root, id: ids[at]!, at, mediaOn: options.mediaOn }, machine),
  )
  addFirmware({ put, list, root })
  return all
}

export const linkTo = (path: string): Json => ({ '@odata.id': path })

interface Site {
  put: (path: string, body: Json) => string
  list: (path: string, members: readonly string[]) => string
  root: string
}
interface Place extends Site {
  id: string
  at: number
  mediaOn: 'System' | 'Manager'
}

function addMachine(place: Place, options: MachineOptions): void {
  const { put, root, id, at } = place
  const [system, manager, chassis] = ['Systems', 'Managers', 'Chassis'].map(kind => `${root}/${kind}/${id}`) as [
    string,
    string,
    string,
  ]
  const number = String(at + 1).padStart(12, '0')
  put(system, {
    '@odata.type': '#ComputerSystem.v1_20_0.ComputerSystem',
    Name: `machine-${at + 1}`,
    UUID: options.uuid ?? `7e57b3c0-0000-4000-8000-${number}`,
    Manufacturer: 'Holdfast',
    Model: 'Test 1',
    SerialNumber: `SN${number}`,
    SKU: `SKU${number}`,
    BiosVersion: '2.1.0',
    PowerState: options.power ?? 'Off',
    IndicatorLED: 'Off',
    Status: { State: 'Enabled', Health: 'OK' },
    BootProgress: { LastState: 'None' },
    ProcessorSummary: { Count: 2, Model: 'Test CPU' },
    MemorySummary: { TotalSystemMemoryGiB: options.memoryGib ?? 64 },
    Boot: {
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideTarget: 'None',
      BootSourceOverrideMode: 'UEFI',
      HttpBootUri: null,
      'BootSourceOverrideTarget@Redfish.AllowableValues': options.bootTargets ?? BOOT_TARGETS,
      'BootSourceOverrideEnabled@Redfish.AllowableValues': ['Disabled', 'Once', 'Continuous'],
      'BootSourceOverrideMode@Redfish.AllowableValues': ['UEFI', 'Legacy'],
    },
    Actions: {
      '#ComputerSystem.Reset': {
        target: `${system}/Actions/ComputerSystem.Reset`,
        'ResetType@Redfish.AllowableValues': options.resetTypes ?? RESET_TYPES,
      },
    },
    ...linksBelow(system, 'Processors', 'Memory', 'EthernetInterfaces', 'Storage', 'Bios', 'SecureBoot', 'LogServices'),
    ...(place.mediaOn === 'System' ? linksBelow(system, 'VirtualMedia') : {}),
    Links: { ManagedBy: [linkTo(manager)], Chassis: [linkTo(chassis)] },
  })
  put(`${system}/SecureBoot`, {
    SecureBootEnable: false,
    SecureBootCurrentBoot: 'Disabled',
    SecureBootMode: 'UserMode',
  })
  addParts(place, system, options)
  addDevices(place, { system, chassis }, options)
  addBios(place, system)
  addDisks(place, { system, chassis }, options)
  addManager(place, { system, manager, chassis })
  addChassis(place, { system, manager, chassis })
}

const linksBelow = (path: string, ...names: readonly string[]): Json =>
  Object.fromEntries(names.map(name => [name, linkTo(`${path}/${name}`)]))

function addParts({ put, list, at }: Place, system: string, options: MachineOptions): void {
  const gpus = options.gpus ?? []
  const cpus = Array.from({ length: 2 }, (_, n) =>
    put(`${system}/Processors/CPU${n + 1}`, {
      ProcessorType: 'CPU',
      InstructionSet: 'x86-64',
      ProcessorArchitecture: 'x86',
      Manufacturer: 'Contoso',
      Model: 'Test CPU 9000',
      MaxSpeedMHz: 2600,
      TotalCores: (options.cpus ?? 16) / 4,
      TotalThreads: (options.cpus ?? 16) / 2,
      Status: { State: 'Enabled', Health: 'OK' },
    }),
  )
  const accelerators = gpus.map(({ manufacturer, model }, n) =>
    put(`${system}/Processors/GPU${n + 1}`, {
      ProcessorType: 'GPU',
      Manufacturer: manufacturer,
      Model: model,
      SerialNumber: `GPU${at}-${n}`,
      Status: { State: 'Enabled', Health: 'OK' },
    }),
  )
  list(`${system}/Processors`, [...cpus, ...accelerators])
  const dimms = Array.from({ length: 2 }, (_, n) =>
    put(`${system}/Memory/DIMM${n + 1}`, {
      CapacityMiB: ((options.memoryGib ?? 64) * 1024) / 2,
      MemoryDeviceType: 'DDR5',
      Status: { State: 'Enabled', Health: 'OK' },
    }),
  )
  list(`${system}/Memory`, dimms)
  const mac = (n: number) => ['52:54:01', (at >> 8) & 255, at & 255, n].map(hexOf).join(':')
  const nics = (options.macs ?? [mac(1), mac(2)]).map((address, n) =>
    put(`${system}/EthernetInterfaces/NIC${n + 1}`, {
      MACAddress: address,
      PermanentMACAddress: address,
      SpeedMbps: 25_000,
      LinkStatus: n === 0 ? 'LinkUp' : 'LinkDown',
      InterfaceEnabled: true,
      Status: { State: 'Enabled', Health: 'OK' },
    }),
  )
  list(`${system}/EthernetInterfaces`, nics)
  const entry = put(`${system}/LogServices/SEL/Entries/1`, {
    Created: '2026-01-02T03:04:05Z',
    Severity: 'Critical',
    Message: 'Power supply 1 lost its input',
    EntryType: 'SEL',
  })
  list(`${system}/LogServices/SEL/Entries`, [entry])
  put(`${system}/LogServices/SEL`, { Entries: linkTo(`${system}/LogServices/SEL/Entries`), LogEntryType: 'SEL' })
  list(`${system}/LogServices`, [`${system}/LogServices/SEL`])
}

const hexOf = (part: string | number) => (typeof part === 'string' ? part : part.toString(16).padStart(2, '0'))

function addDevices(
  { put, list }: Place,
  { chassis }: { system: string; chassis: string },
  options: MachineOptions,
): void {
  const nic = {
    manufacturer: 'Contoso',
    model: 'Net 25',
    vendorId: '0x15b3',
    deviceId: '0x1015',
    classCode: '0x020000',
    type: 'NetworkController',
  }
  const gpus = (options.gpus ?? []).map(gpu => ({ ...gpu, classCode: '0x030200', type: 'DisplayController' }))
  const devices = [nic, ...gpus].map(({ manufacturer, model, vendorId, deviceId, classCode, type }, n) => {
    const path = `${chassis}/PCIeDevices/${n + 1}`
    const one = put(`${path}/PCIeFunctions/1`, {
      VendorId: vendorId,
      DeviceId: deviceId,
      ClassCode: classCode,
      DeviceClass: type,
      SubsystemId: '0x0001',
      SubsystemVendorId: vendorId,
    })
    list(`${path}/PCIeFunctions`, [one])
    return put(path, {
      Manufacturer: manufacturer,
      Model: model,
      DeviceType: 'SingleFunction',
      FirmwareVersion: '1.0',
      PCIeFunctions: linkTo(`${path}/PCIeFunctions`),
    })
  })
  list(`${chassis}/PCIeDevices`, devices)
}

function addBios({ put, root }: Place, system: string): void {
  const attributes = { BootMode: 'Uefi', ProcVirtualization: 'Enabled', NumLock: true, FanOffset: 10, AssetTag: '' }
  put(`${system}/Bios`, {
    Attributes: { ...attributes },
    AttributeRegistry: 'BiosAttributeRegistry.v1_0_0',
    '@Redfish.Settings': { SettingsObject: linkTo(`${system}/Bios/Settings`) },
    Actions: { '#Bios.ResetBios': { target: `${system}/Bios/Actions/Bios.ResetBios` } },
  })
  put(`${system}/Bios/Settings`, { Attributes: {} })
  put(`${root}/Registries/BiosAttributeRegistry.v1_0_0`, {
    Registry: 'BiosAttributeRegistry.v1_0_0',
    Location: [{ Language: 'en', Uri: `${root}/Registries/BiosAttributeRegistry.v1_0_0.json` }],
  })
  const choice = (...values: string[]) => ({
    Type: 'Enumeration',
    ReadOnly: false,
    ResetRequired: true,
    Value: values.map(ValueName => ({ ValueName })),
  })
  const entries: Json[] = [
    { AttributeName: 'BootMode', ...choice('Uefi', 'Bios') },
    { AttributeName: 'ProcVirtualization', ...choice('Enabled', 'Disabled') },
    { AttributeName: 'NumLock', Type: 'Boolean', ReadOnly: false },
    { AttributeName: 'FanOffset', Type: 'Integer', LowerBound: 0, UpperBound: 100, ReadOnly: false },
    { AttributeName: 'AssetTag', Type: 'String', MinLength: 0, MaxLength: 63, ReadOnly: true },
  ]
  put(`${root}/Registries/BiosAttributeRegistry.v1_0_0.json`, {
    Language: 'en',
    RegistryEntries: { Attributes: entries },
  })
}

function addDisks(
  { put, list }: Place,
  { system, chassis }: { system: string; chassis: string },
  options: MachineOptions,
): void {
  const storage = `${system}/Storage/RAID1`
  const drives = (options.disksBytes ?? [480 * GIB, 480 * GIB, 960 * GIB, 960 * GIB]).map((bytes, n) =>
    put(`${storage}/Drives/${n + 1}`, {
      Name: `Bay ${n + 1}`,
      CapacityBytes: bytes,
      MediaType: 'SSD',
      Protocol: 'SAS',
      Model: 'Test SSD',
      SerialNumber: `DISK${n + 1}`,
      IndicatorLED: 'Off',
      Status: { State: 'Enabled', Health: 'OK' },
      Links: { Volumes: [], Chassis: linkTo(chassis) },
    }),
  )
  list(`${storage}/Volumes`, [])
  put(storage, {
    Name: 'RAID Controller 1',
    Drives: drives.map(linkTo),
    Volumes: linkTo(`${storage}/Volumes`),
    StorageControllers: [
      { MemberId: '0', Name: 'Controller', SupportedRAIDTypes: ['RAID0', 'RAID1', 'RAID5', 'RAID10'] },
    ],
  })
  list(`${system}/Storage`, [storage])
}

function addManager(
  place: Place,
  { system, manager, chassis }: { system: string; manager: string; chassis: string },
): void {
  const { put, list, mediaOn } = place
  put(manager, {
    ManagerType: 'BMC',
    FirmwareVersion: '7.10',
    Model: 'Test BMC',
    SerialConsole: { ServiceEnabled: true, ConnectTypesSupported: ['IPMI'], MaxConcurrentSessions: 1 },
    GraphicalConsole: { ServiceEnabled: true, ConnectTypesSupported: ['KVMIP'], MaxConcurrentSessions: 1 },
    ...(mediaOn === 'Manager' ? linksBelow(manager, 'VirtualMedia') : {}),
    Links: { ManagerForServers: [linkTo(system)], ManagerForChassis: [linkTo(chassis)] },
  })
  const media = `${mediaOn === 'System' ? system : manager}/VirtualMedia`
  const slot = (id: string, types: string[]) =>
    put(`${media}/${id}`, {
      MediaTypes: types,
      Image: null,
      ImageName: null,
      Inserted: false,
      WriteProtected: true,
      ConnectedVia: 'NotConnected',
      Actions: {
        '#VirtualMedia.InsertMedia': { target: `${media}/${id}/Actions/VirtualMedia.InsertMedia` },
        '#VirtualMedia.EjectMedia': { target: `${media}/${id}/Actions/VirtualMedia.EjectMedia` },
      },
    })
  list(media, [slot('Cd', ['CD', 'DVD']), slot('Usb', ['USBStick', 'Floppy'])])
}

function addChassis(
  { put, list }: Place,
  { system, manager, chassis }: { system: string; manager: string; chassis: string },
): void {
  const status = { State: 'Enabled', Health: 'OK' }
  put(chassis, {
    ChassisType: 'RackMount',
    IndicatorLED: 'Off',
    LocationIndicatorActive: false,
    ...linksBelow(chassis, 'Thermal', 'Power', 'Sensors', 'ThermalSubsystem', 'PowerSubsystem', 'PCIeDevices'),
    Links: { ComputerSystems: [linkTo(system)], ManagedBy: [linkTo(manager)] },
  })
  put(`${chassis}/Thermal`, {
    Temperatures: [{ MemberId: '0', Name: 'CPU1 Temp', ReadingCelsius: 42, Status: status }],
    Fans: [{ MemberId: '0', Name: 'Fan 1', Reading: 5400, ReadingUnits: 'RPM', Status: status }],
  })
  put(`${chassis}/Power`, {
    PowerControl: [{ MemberId: '0', Name: 'System Power', PowerConsumedWatts: 210 }],
    PowerSupplies: [
      {
        MemberId: '0',
        Name: 'PSU 1',
        PowerInputWatts: 215,
        LastPowerOutputWatts: 210,
        LineInputVoltage: 230,
        Status: status,
      },
    ],
    Voltages: [{ MemberId: '0', Name: '12V', ReadingVolts: 12.1, Status: status }],
  })
  const sensor = (id: string, body: Json) => put(`${chassis}/Sensors/${id}`, { Status: status, ...body })
  list(`${chassis}/Sensors`, [
    sensor('CPU1Temp', { Name: 'CPU1 Temp', ReadingType: 'Temperature', Reading: 42, ReadingUnits: 'Cel' }),
    sensor('Fan1', { Name: 'Fan 1', ReadingType: 'Rotational', Reading: 5400, ReadingUnits: 'RPM' }),
    sensor('Power', { Name: 'System Power', ReadingType: 'Power', Reading: 210, ReadingUnits: 'W' }),
  ])
  put(`${chassis}/ThermalSubsystem`, { Fans: linkTo(`${chassis}/ThermalSubsystem/Fans`), Status: status })
  list(`${chassis}/ThermalSubsystem/Fans`, [
    put(`${chassis}/ThermalSubsystem/Fans/1`, {
      Name: 'Fan 1',
      SpeedPercent: { Reading: 40, SpeedRPM: 5400 },
      Status: status,
    }),
  ])
  put(`${chassis}/PowerSubsystem`, { PowerSupplies: linkTo(`${chassis}/PowerSubsystem/PowerSupplies`), Status: status })
  list(`${chassis}/PowerSubsystem/PowerSupplies`, [
    put(`${chassis}/PowerSubsystem/PowerSupplies/1`, { Name: 'PSU 1', Status: status }),
  ])
}

function addFirmware({ put, list, root }: Site): void {
  const firmware = `${root}/UpdateService/FirmwareInventory`
  put(`${root}/UpdateService`, { FirmwareInventory: linkTo(firmware) })
  list(firmware, [
    put(`${firmware}/BIOS`, { Name: 'BIOS', Version: '2.1.0', Updateable: true }),
    put(`${firmware}/BMC`, { Name: 'BMC', Version: '7.10', Updateable: true }),
  ])
  list(`${root}/Registries`, [`${root}/Registries/BiosAttributeRegistry.v1_0_0`])
}
