-- Since when all tries of a webhook have failed; null when the last one was taken. Those that failed last have few places.
alter table webhooks add column failing_since bigint;

-- What is due is looked up by webhook, so that each gets its turn.
create index deliveries_due_by_webhook on deliveries (webhook_id, due_at, id) where due_at is not null;
