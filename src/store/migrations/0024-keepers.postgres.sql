-- keeper: whose command runs on the node. Until expires_at nobody else gets the node, unless the keeper lets go. The
-- allocation of a lease has no expires_at: it is kept until kept_until.
-- ending_*: who asked for the end of a kept allocation, when, and why. planned_end: when the keeper means to be done.
alter table allocations add column kept_until bigint;
alter table allocations add column keeper text collate "C" check (keeper is null or expires_at is not null or kept_until is not null);
alter table allocations add column planned_end bigint;
alter table allocations add column ending_by text collate "C";
alter table allocations add column ending_at bigint check ((ending_at is null) = (ending_by is null) and (ending_at is null or (keeper is not null and state = 'active')));
alter table allocations add column ending_message text collate "C" check (ending_message is null or ending_at is not null);
