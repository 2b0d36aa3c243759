// Invariants of servers, flavors and moves. Each is a query that counts violations.
import { capitals, count, danglings, type Invariants } from '../store/fsck.ts'

const CLAIMED_ON_HOST = `
  select 1 from consumers k join claims c on c.consumer_id = k.id join providers p on p.id = c.provider_id
  where k.uuid = s.uuid and p.root_id = s.host_id`

export const computeInvariants: Invariants = {
  'a server on a hypervisor has claims there, and they are compute’s': count(`
    select 1 from servers s where s.is_metal = 0 and s.host_id is not null
      and not exists (${CLAIMED_ON_HOST} and k.managed_by = 'compute')`),
  'a server without a host has no claims': count(`
    select 1 from servers s where s.host_id is null and exists (select 1 from consumers k where k.uuid = s.uuid)`),
  'a server without a host is in error, or has just lost its node': count(`
    select 1 from servers where host_id is null and is_metal = 0 and status <> 'ERROR'`),
  'a consumer of compute’s is a server, or a move that holds what a server had': count(`
    select 1 from consumers k where k.managed_by = 'compute'
      and not exists (select 1 from servers s where s.uuid = k.uuid and s.host_id is not null)
      and not exists (select 1 from moves m where m.uuid = k.uuid and m.status in ('running', 'finished', 'done'))`),
  'a move that is under way holds claims': count(`
    select 1 from moves m where m.status in ('running', 'finished', 'done')
      and not exists (select 1 from consumers k where k.uuid = m.uuid and k.managed_by = 'compute')`),
  'a server waits for its owner’s word exactly while a move does': count(`
    select 1 from servers s where (s.status = 'VERIFY_RESIZE') <> exists (
      select 1 from moves m where m.server_id = s.id and m.status = 'finished')`),
  'a node whose instance is a server is that server’s host': count(`
    select 1 from nodes n join servers s on s.uuid = n.instance_uuid
    where s.is_metal = 0 or s.host_id is null or s.host_id <> n.provider_id`),
  'what a server has claimed is its project’s': count(`
    select 1 from servers s join consumers k on k.uuid = s.uuid
    where k.managed_by = 'compute' and (k.project_id <> s.project_id or k.user_id <> s.user_id)`),
  'a server has a task only while something is done to it': count(`
    select 1 from servers s where (s.task in ('spawning', 'deleting', 'tearing down') and s.is_metal = 0)
      or (s.task = 'spawning' and s.status <> 'BUILD') or (s.status = 'BUILD' and s.task is null)
      or (s.task = 'migrating') <> exists (select 1 from moves m where m.server_id = s.id and m.status = 'running')`),
  'a server has at most one move at a time': count(`
    select server_id from moves where status in ('running', 'finished') group by server_id having count(*) > 1`),
  'a hypervisor is a provider that nothing else manages': count(`
    select 1 from hypervisors h join providers p on p.id = h.provider_id where p.managed_by is not null`),
  'a flavor has sizes': count(`
    select 1 from flavors where vcpus < 0 or ram_mb < 0 or disk_gb < 0 or ephemeral_gb < 0 or swap_mb < 0 or rxtx_factor <= 0
      or (managed_by is not null and managed_by <> 'leases')`),
  'access is to a private flavor': count(`
    select 1 from flavor_access a join flavors f on f.id = a.flavor_id where f.is_public = 1`),
  'hypervisors, servers, moves and access are of what exists': danglings(
    ['hypervisors.provider_id', 'providers.id'],
    ['servers.host_id', 'providers.id'],
    ['moves.server_id', 'servers.id'],
    ['moves.source_id', 'providers.id'],
    ['moves.target_id', 'providers.id'],
    ['flavor_access.flavor_id', 'flavors.id'],
  ),
  'servers and moves have uuids in small letters': capitals('servers.uuid', 'moves.uuid'),
}
