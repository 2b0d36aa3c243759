-- The leases that are about to end: someone looks each second which of them have nothing in use any more.
create index leases_terminating on leases (id) where status = 'TERMINATING';
