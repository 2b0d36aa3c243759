// Who may do what with bare metal: one line per action. A node may have an owner and a lessee, both are projects. A
// caller who may not list all nodes sees only the nodes of its project and their parts; all others look absent.

const OPERATORS = 'admin or service'
const READERS = 'reader or service'
const TENANT_READERS = 'admin or service or system reader or owner reader or lessee reader'
const OWNER_READERS = 'admin or service or system reader or owner reader'
const TENANT_MEMBERS = 'admin or service or owner member or lessee member'
const OWNER_MEMBERS = 'admin or service or owner member'

export const baremetalPolicy = {
  // Sees every node, port, port group, allocation and reservation.
  'baremetal:node:list_all': 'admin or service or system reader',
  'baremetal:node:list': READERS,
  'baremetal:node:get': TENANT_READERS,
  // Others see an empty object. Secrets in it are masked for everyone.
  'baremetal:node:get:driver_info': 'admin or service',
  // The image's address and the SSH keys, which are masked for others.
  'baremetal:node:get:instance_secrets': 'admin or service',
  'baremetal:node:create': OPERATORS,
  'baremetal:node:delete': 'admin',

  'baremetal:node:update': OWNER_MEMBERS,
  'baremetal:node:update_instance_info': TENANT_MEMBERS,
  'baremetal:node:update_extra': TENANT_MEMBERS,
  'baremetal:node:update:instance_uuid': TENANT_MEMBERS,
  'baremetal:node:update:owner': OPERATORS,
  'baremetal:node:update:lessee': OPERATORS,
  'baremetal:node:update:chassis_uuid': OPERATORS,
  'baremetal:node:update:conductor_group': OPERATORS,
  'baremetal:node:update:shard': OPERATORS,
  'baremetal:node:update:driver_interfaces': OPERATORS,
  // How to reach the BMC. Whoever moves its address is sent the password that stands beside it.
  'baremetal:node:update:driver_info': OPERATORS,

  'baremetal:node:get_states': TENANT_READERS,
  // Deploy, rebuild, undeploy, rescue and unrescue: what a tenant does with a machine.
  'baremetal:node:deploy': TENANT_MEMBERS,
  // All other verbs.
  'baremetal:node:set_provision_state': OWNER_MEMBERS,
  'baremetal:node:set_power_state': TENANT_MEMBERS,
  'baremetal:node:set_raid_state': OWNER_MEMBERS,
  'baremetal:node:set_maintenance': OWNER_MEMBERS,
  'baremetal:node:clear_maintenance': OWNER_MEMBERS,
  'baremetal:node:validate': TENANT_MEMBERS,
  'baremetal:node:get_boot_device': OWNER_READERS,
  'baremetal:node:set_boot_device': OWNER_MEMBERS,
  'baremetal:node:set_boot_mode': OWNER_MEMBERS,
  'baremetal:node:set_secure_boot': OWNER_MEMBERS,
  // Whoever sees the console may type on it.
  'baremetal:node:get_console': TENANT_MEMBERS,
  'baremetal:node:set_console_state': TENANT_MEMBERS,
  'baremetal:node:inject_nmi': OWNER_MEMBERS,
  'baremetal:node:get_indicator_state': OWNER_READERS,
  'baremetal:node:set_indicator_state': OWNER_MEMBERS,
  // What sensors measure, and the event log of the BMC.
  'baremetal:node:get_sensors': OWNER_READERS,
  'baremetal:node:vendor_passthru': 'admin',
  'baremetal:node:vif:list': TENANT_READERS,
  'baremetal:node:vif:attach': TENANT_MEMBERS,
  'baremetal:node:vif:detach': TENANT_MEMBERS,
  'baremetal:node:traits:list': TENANT_READERS,
  'baremetal:node:traits:set': OWNER_MEMBERS,
  'baremetal:node:traits:delete': OWNER_MEMBERS,
  'baremetal:node:bios:get': TENANT_READERS,
  'baremetal:node:history:get': OWNER_READERS,
  'baremetal:node:inventory:get': OWNER_READERS,

  'baremetal:port:list': READERS,
  'baremetal:port:get': TENANT_READERS,
  'baremetal:port:create': OWNER_MEMBERS,
  'baremetal:port:update': OWNER_MEMBERS,
  'baremetal:port:delete': OWNER_MEMBERS,
  'baremetal:portgroup:list': READERS,
  'baremetal:portgroup:get': TENANT_READERS,
  'baremetal:portgroup:create': OWNER_MEMBERS,
  'baremetal:portgroup:update': OWNER_MEMBERS,
  'baremetal:portgroup:delete': OWNER_MEMBERS,

  'baremetal:allocation:list': READERS,
  'baremetal:allocation:get': 'admin or service or system reader or project reader',
  'baremetal:allocation:create': 'member or service',
  // For a project other than the caller's own.
  'baremetal:allocation:create_for_others': OPERATORS,
  'baremetal:allocation:update': 'admin or service or project member',
  'baremetal:allocation:delete': 'admin or service or project member',
  // Takes the node from its keeper at once, although the keeper's command may still run there.
  'baremetal:allocation:delete_now': 'admin',
  'baremetal:reservation:list': READERS,
  'baremetal:reservation:get': 'admin or service or system reader or project reader',
  'baremetal:reservation:create': 'member or service',
  'baremetal:reservation:create_for_others': OPERATORS,
  'baremetal:reservation:update': 'admin or service or project member',
  'baremetal:reservation:delete': 'admin or service or project member',

  'baremetal:chassis:get': OPERATORS,
  'baremetal:chassis:create': 'admin',
  'baremetal:chassis:update': 'admin',
  'baremetal:chassis:delete': 'admin',
  'baremetal:driver:get': READERS,
  'baremetal:driver:vendor_passthru': 'admin',
  'baremetal:conductor:get': READERS,
  'baremetal:shard:get': 'admin or service or system reader',
  'baremetal:events:post': OPERATORS,
  'baremetal:volume:list': READERS,
  'baremetal:volume:get': TENANT_READERS,
  'baremetal:volume:create': OWNER_MEMBERS,
  'baremetal:volume:update': OWNER_MEMBERS,
  'baremetal:volume:delete': OWNER_MEMBERS,
  // How to log in at the storage. Others see an empty object; secrets in it are masked for everyone.
  'baremetal:volume:view_target_properties': OPERATORS,
  'baremetal:deploy_template:get': READERS,
  'baremetal:deploy_template:create': 'admin',
  'baremetal:deploy_template:update': 'admin',
  'baremetal:deploy_template:delete': 'admin',
}

export type BaremetalAction = keyof typeof baremetalPolicy
