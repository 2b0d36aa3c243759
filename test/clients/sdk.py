# What a program with openstacksdk does: the cloud layer that tools use, and the proxies below it. Says nothing if all is well.
import openstack

conn = openstack.connect()


def same(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


same([i.name for i in conn.list_images()], ["cirros"])
same([p.name for p in conn.identity.projects()], ["play"])
same([s.type for s in conn.identity.services(type="compute")], ["compute"])
same(len(conn.list_endpoints()), 18)
same([r.id for r in conn.identity.regions()], ["RegionOne"])
same([z.name for z in conn.compute.availability_zones()], ["nova"])

flavor = conn.create_flavor("small", ram=1024, vcpus=2, disk=5)
same([f.name for f in conn.list_flavors()], ["small"])

# The cloud layer asks for a network, waits, and would delete a server that has none.
first = conn.create_server("first", image="cirros", flavor="small", wait=True, timeout=60)
same((first.status, first.addresses), ("ACTIVE", {"auto": []}))
second = conn.compute.create_server(
    name="second", image_id=conn.get_image("cirros").id, flavor_id=flavor.id, networks="none", description="mine"
)
second = conn.compute.wait_for_server(second, wait=60)
same((second.status, second.description, second.addresses), ("ACTIVE", "mine", {}))
same(sorted(s.name for s in conn.list_servers()), ["first", "second"])
same([s.name for s in conn.list_servers(detailed=True, all_projects=True, filters={"name": "first"})], ["first"])
same(conn.get_server("second").id, second.id)
conn.compute.stop_server(second)
same(conn.compute.wait_for_server(second, status="SHUTOFF", wait=60).status, "SHUTOFF")
# Its own words for tags send no version, and so are for a server that needs none.
assert conn.compute.put(f"/servers/{second.id}/tags/red", microversion="2.26").status_code == 201
same(conn.compute.get_server(second).tags, ["red"])
same([s.name for s in conn.compute.servers(tags="red")], ["second"])

same([h.name for h in conn.compute.hypervisors()], ["compute-1"])
same([h.vcpus_used for h in conn.compute.hypervisors(details=True)], [4])
same([(s.host, s.is_forced_down) for s in conn.compute.services()], [("compute-1", False)])
same(conn.get_compute_limits().total_cores_used, 4)
same(conn.compute.get_limits().absolute.instances_used, 2)
same(conn.get_compute_quotas("play").cores, -1)
same(len(conn.get_compute_usage("play").server_usages), 2)
for none in (conn.list_aggregates(), conn.list_keypairs(), conn.list_server_groups()):
    same(list(none), [])
for server in ("first", "second"):
    same(conn.delete_server(server, wait=True, timeout=60), True)
same(conn.list_servers(), [])
failing = conn.compute.create_server(
    name="huge",
    image_id=conn.get_image("cirros").id,
    flavor_id=conn.create_flavor("huge", ram=1, vcpus=1000, disk=0).id,
    networks="none",
)
try:
    conn.compute.wait_for_server(failing, wait=60)
    raise SystemExit("it did not fail")
except openstack.exceptions.ResourceFailure:
    pass
same(conn.compute.get_server(failing).status, "ERROR")

# Bare metal: nodes that are waited for together, and an allocation.
nodes = [conn.baremetal.create_node(driver="fake-hardware", name=n, resource_class="gpu") for n in ("n1", "n2")]
for node in nodes:
    conn.baremetal.set_node_provision_state(node, "manage")
conn.baremetal.wait_for_nodes_provision_state(nodes, "manageable", timeout=60)
for node in nodes:
    conn.baremetal.set_node_provision_state(node, "provide")
nodes = conn.baremetal.wait_for_nodes_provision_state(nodes, "available", timeout=60)
same([n.provision_state for n in nodes], ["available", "available"])
allocation = conn.baremetal.create_allocation(resource_class="gpu", name="mine")
allocation = conn.baremetal.wait_for_allocation(allocation, timeout=60)
same([(a.name, a.state) for a in conn.baremetal.allocations()], [("mine", "active")])
conn.baremetal.delete_allocation(allocation)
same(sorted(m.name for m in conn.list_machines()), ["n1", "n2"])
assert "fake-hardware" in [d.name for d in conn.baremetal.drivers(details=True)]
port = conn.baremetal.create_port(address="52:54:00:00:00:01", node_id=nodes[0].id)
same([p.address for p in conn.baremetal.ports(details=True)], ["52:54:00:00:00:01"])
conn.baremetal.delete_port(port)

# Placement.
names = {p.name for p in conn.placement.resource_providers()}
assert "compute-1" in names and nodes[0].id in names, names
made = conn.placement.create_resource_provider(name="rack")
same(conn.placement.find_resource_provider("rack").id, made.id)
conn.placement.delete_resource_provider(made)
assert "CUSTOM_GPU" in {c.name for c in conn.placement.resource_classes()}
