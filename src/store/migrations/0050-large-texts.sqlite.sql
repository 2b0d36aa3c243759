-- The large texts of a project, counted for its quota without reading them. Small ones are not counted.
create index allocations_texts on allocations (project_id, length(cast(extra as blob)) + length(cast(candidate_nodes as blob)))
  where length(cast(extra as blob)) + length(cast(candidate_nodes as blob)) > 4096;
create index servers_texts on servers (project_id, length(cast(metadata as blob))) where length(cast(metadata as blob)) > 4096;
