// The problems of compute, and their messages.

export const COMPUTE_PROBLEMS = {
  compute_version_malformed: (f: { given: string }) =>
    `API Version String ${f.given} is of invalid format. Must be of format MajorNum.MinorNum.`,
  compute_version_unsupported: (f: { given: string; oldest: string; newest: string }) =>
    `Version ${f.given} is not supported by the API. Minimum is ${f.oldest} and maximum is ${f.newest}.`,
  compute_elsewhere: (f: { url: string | null }) =>
    f.url === null
      ? 'Compute is off here: there are no servers, flavors or hypervisors.'
      : `Compute is not here: servers, flavors and hypervisors are those of the Nova at ${f.url}.`,
  compute_invalid: (f: { reason: string }) => f.reason,
  compute_not_implemented: (f: { reason: string }) => f.reason,
  over_limit: (f: { reason: string }) => f.reason,

  // flavors
  flavor_not_found: (f: { flavor: string }) => `Flavor ${f.flavor} could not be found.`,
  flavor_unusable: (f: { flavor: string }) => `Flavor ${f.flavor} could not be found.`,
  flavor_id_taken: (f: { flavor: string }) => `Flavor with ID ${f.flavor} already exists.`,
  flavor_name_taken: (f: { name: string }) => `Flavor with name ${f.name} already exists.`,
  flavor_managed: (f: { flavor: string; owner: string }) =>
    `Flavor ${f.flavor} belongs to ${f.owner} and is changed there.`,
  extra_spec_not_found: (f: { flavor: string; key: string }) =>
    `Flavor ${f.flavor} has no extra specs with key ${f.key}.`,
  access_exists: (f: { flavor: string; project: string }) =>
    `Flavor access already exists for flavor ${f.flavor} and project ${f.project} combination.`,
  access_not_found: (f: { flavor: string; project: string }) =>
    `Flavor access not found for ${f.flavor} / ${f.project} combination.`,
  access_to_public: (f: { flavor: string }) => `Flavor ${f.flavor} is public: everyone has access to it.`,
  access_list_of_public: (_: object) => 'Access list not available for public flavors.',

  // images
  image_not_found: (f: { image: string }) => `No image found with ID ${f.image}`,
  images_are_fixed: (_: object) =>
    "Images are not kept here: there is one, and it can't be changed. For images and snapshots of your own, name a Glance in the catalog.",

  // servers
  server_not_found: (f: { server: string }) => `Instance ${f.server} could not be found.`,
  server_state_refused: (f: { server: string; action: string; attribute: string; state: string }) =>
    `Cannot '${f.action}' instance ${f.server} while it is in ${f.attribute} ${f.state}`,
  server_tag_not_found: (f: { server: string; tag: string }) => `Server ${f.server} has no tag '${f.tag}'`,
  move_not_found: (f: { server: string; move: string }) =>
    `Migration ${f.move} for server ${f.server} is not live-migration in progress.`,
  metadata_not_found: (f: { key: string }) => `Metadata item was not found: ${f.key.slice(0, 100)}`,
  no_valid_host: (f: { reason: string }) => `No valid host was found. ${f.reason}`,

  // hypervisors
  hypervisor_not_found: (f: { name: string }) => `Compute host ${f.name} could not be found.`,
  hypervisors_not_matched: (f: { pattern: string }) => `No hypervisor matching '${f.pattern}' could be found.`,
  target_host_not_found: (f: { name: string }) => `Compute host ${f.name} could not be found.`,
  hypervisor_in_use: (f: { name: string }) => `Compute service of ${f.name} is still in use.`,
} as const
