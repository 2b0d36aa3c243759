-- The large texts of a project, counted for its quota without reading them. Small ones are not counted.
create index allocations_texts on allocations (project_id, octet_length(extra) + octet_length(candidate_nodes))
  where octet_length(extra) + octet_length(candidate_nodes) > 4096;
create index servers_texts on servers (project_id, octet_length(metadata)) where octet_length(metadata) > 4096;
