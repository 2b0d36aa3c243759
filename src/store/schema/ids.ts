// The ids of rows. All are numbers in the database; only their types differ, so that the id of a node can't be taken
// for that of its provider. Ids come from rows.

export type ProviderId = number & { readonly of: 'provider' }
export type ResourceClassId = number & { readonly of: 'resource class' }
export type TraitId = number & { readonly of: 'trait' }
export type ConsumerId = number & { readonly of: 'consumer' }
export type NodeId = number & { readonly of: 'node' }
export type ChassisId = number & { readonly of: 'chassis' }
export type PortId = number & { readonly of: 'port' }
export type PortgroupId = number & { readonly of: 'port group' }
export type DeployTemplateId = number & { readonly of: 'deploy template' }
export type VolumeConnectorId = number & { readonly of: 'volume connector' }
export type VolumeTargetId = number & { readonly of: 'volume target' }
export type AllocationId = number & { readonly of: 'allocation' }
export type ServerId = number & { readonly of: 'server' }
export type MoveId = number & { readonly of: 'move' }
export type WebhookId = number & { readonly of: 'webhook' }
export type DeliveryId = number & { readonly of: 'delivery' }
export type CallId = number & { readonly of: 'call' }
