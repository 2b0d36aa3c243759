// A BMC with no machine behind it, for trying the redfish driver: node scripts/bmc.ts [PORT]
import { startBmc } from '../test/support/bmc.ts'

const GPU = { manufacturer: 'NVIDIA', model: 'A100-PCIE-40GB', vendorId: '0x10de', deviceId: '0x20f1' }
const port = Number(process.argv[2] ?? 8787)
const bmc = await startBmc({ port, username: 'admin', password: 'secret-word', machines: [{ gpus: [GPU] }] })
process.stdout.write(`a BMC is listening at ${bmc.address}, with user ${bmc.username} and password ${bmc.password}\n`)
