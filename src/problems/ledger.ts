// The problems of the ledger, and their messages.

export const LEDGER_PROBLEMS = {
  // providers
  provider_not_found: (f: { provider: string; purpose?: string }) =>
    `No resource provider with uuid ${f.provider} found${f.purpose ? ` for ${f.purpose}` : ''}`,
  provider_exists: (f: { duplicate: string }) => `Conflicting resource provider ${f.duplicate} already exists.`,
  provider_parent_refused: (f: { verb: 'create' | 'save'; provider: string; reason: string }) =>
    `Unable to ${f.verb} resource provider ${f.provider}: ${f.reason}`,
  provider_name_missing: (f: { provider: string }) =>
    `Unable to create resource provider "", ${f.provider}: Object action create failed because: name is required`,
  provider_in_use: (f: { provider: string }) =>
    `Unable to delete resource provider ${f.provider}: Resource provider has allocations.`,
  provider_has_children: (f: { provider: string }) =>
    `Unable to delete parent resource provider ${f.provider}: It has child resource providers.`,
  provider_managed: (f: { provider: string; owner: string; what: string }) =>
    `Resource provider ${f.provider} belongs to ${f.owner}, which is where to change its ${f.what}.`,
  generation_conflict: (f: { reason: string }) => f.reason,

  // inventories
  inventory_exists: (f: { resourceClass: string; provider: string }) =>
    `Update conflict: an inventory of class ${f.resourceClass} already exists on resource provider ${f.provider}.`,
  inventory_not_found: (f: { resourceClass: string; provider: string; purpose?: string }) =>
    `No inventory of class ${f.resourceClass} ${f.purpose ? `found for ${f.purpose} on` : 'for'} ${f.provider}`,
  inventory_absent: (f: { resourceClass: string; provider: string }) =>
    `No inventory record with resource class for resource provider ${f.provider}: ` +
    `No inventory of class ${f.resourceClass} found.`,
  inventory_in_use: (f: { resourceClasses: string; provider: string }) =>
    `update conflict: Inventory for '${f.resourceClasses}' on resource provider '${f.provider}' in use.`,
  inventory_delete_refused: (f: { resourceClass: string; provider: string }) =>
    `Unable to delete inventory of class ${f.resourceClass}: Inventory for '${f.resourceClass}' on ` +
    `resource provider '${f.provider}' in use.`,
  inventory_over_reserved: (f: {
    verb: 'create' | 'update'
    resourceClass: string
    provider: string
    mayEqual: boolean
  }) =>
    `Unable to ${f.verb} inventory for resource provider ${f.provider}: Invalid inventory for '${f.resourceClass}' on ` +
    `resource provider '${f.provider}'. The reserved value is greater than ${f.mayEqual ? '' : 'or equal to '}total.`,

  // resource classes and traits
  class_not_found: (f: { name: string }) => `No such resource class ${f.name}.`,
  class_unknown: (f: { name: string; where: string }) => `${f.where}: No such resource class ${f.name}.`,
  class_exists: (f: { name: string }) => `Conflicting resource class already exists: ${f.name}`,
  class_name_taken: (f: { name: string }) => `Resource class already exists: ${f.name}`,
  class_standard: (f: { name: string; verb: 'update' | 'delete' }) =>
    f.verb === 'update'
      ? `Cannot update standard resource class ${f.name}`
      : `Error in delete resource class: Cannot delete standard resource class ${f.name}.`,
  class_in_use: (f: { name: string }) =>
    `Error in delete resource class: Cannot delete resource class ${f.name}. Class is in use in inventory.`,
  class_managed: (f: { name: string; owner: string }) =>
    `Resource class ${f.name} belongs to ${f.owner} and is changed there.`,
  trait_not_found: (f: { name: string }) => `No such trait(s): ${f.name}.`,
  trait_unknown: (f: { names: string }) => `No such trait ${f.names}`,
  traits_unknown: (f: { names: string }) => `No such trait(s): ${f.names}.`,
  trait_invalid: (_: object) =>
    'The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_" ' +
    'and use following characters: "A"-"Z", "0"-"9" and "_"',
  trait_standard: (f: { name: string }) => `Cannot delete standard trait ${f.name}.`,
  trait_in_use: (f: { name: string }) => `The trait ${f.name} is in use by a resource provider.`,

  // claims
  consumer_malformed: (f: { consumer: string }) => `Malformed consumer_uuid: ${f.consumer}`,
  consumer_without_claims: (f: { consumer: string }) => `No allocations for consumer '${f.consumer}'`,
  consumer_generation_conflict: (f: { expected: number | null; given: number | null }) =>
    `consumer generation conflict - expected ${f.expected ?? 'null'} but got ${f.given ?? 'None'}`,
  consumer_managed: (f: { consumer: string; owner: string }) =>
    `The allocations of consumer ${f.consumer} belong to ${f.owner} and are changed there.`,
  claim_on_unknown_provider: (f: { provider: string }) =>
    `Allocation for resource provider '${f.provider}' that does not exist.`,
  claim_on_unknown_class: (f: { consumer: string; name: string }) =>
    `Unable to allocate inventory for consumer ${f.consumer}: No such resource class ${f.name}.`,
  claim_without_inventory: (f: { resourceClass: string; provider: string }) =>
    `Unable to allocate inventory: Inventory for '${f.resourceClass}' on resource provider '${f.provider}' invalid.`,
  claim_violates_units: (f: { resourceClass: string; provider: string }) =>
    `Unable to allocate inventory: Unable to create allocation for '${f.resourceClass}' on resource provider ` +
    `'${f.provider}'. The requested amount would violate inventory constraints.`,
  claim_exceeds_capacity: (f: { resourceClass: string; provider: string }) =>
    `Unable to allocate inventory: Unable to create allocation for '${f.resourceClass}' on resource provider ` +
    `'${f.provider}'. The requested amount would exceed the capacity.`,
  claim_on_dedicated_provider: (f: { provider: string; owner: string }) =>
    `Unable to allocate inventory: resource provider '${f.provider}' is handed out by ${f.owner} alone, ` +
    'to claims that include what they have set aside on it.',

  // reshape
  reshape_unknown_provider: (f: { provider: string }) =>
    `Resource provider ${f.provider} in inventories not found: No resource provider with uuid ${f.provider} found`,
} as const
