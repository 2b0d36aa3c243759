// What a program with gophercloud does here: it logs in with the environment of the openstack command, and goes through
// identity, bare metal, placement and compute. It prints a line for each step, and fails at the first that is wrong.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/gophercloud/gophercloud"
	"github.com/gophercloud/gophercloud/openstack"
	"github.com/gophercloud/gophercloud/openstack/baremetal/v1/allocations"
	"github.com/gophercloud/gophercloud/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/availabilityzones"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/hypervisors"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/limits"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/services"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/startstop"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/usage"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/openstack/identity/v3/endpoints"
	"github.com/gophercloud/gophercloud/openstack/identity/v3/projects"
	"github.com/gophercloud/gophercloud/openstack/identity/v3/regions"
	identity "github.com/gophercloud/gophercloud/openstack/identity/v3/services"
	"github.com/gophercloud/gophercloud/openstack/identity/v3/users"
	"github.com/gophercloud/gophercloud/openstack/imageservice/v2/images"
	"github.com/gophercloud/gophercloud/openstack/placement/v1/resourceproviders"
)

const patience = 60 * time.Second

var everywhere = gophercloud.EndpointOpts{Region: "RegionOne"}

func need(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func expect(holds bool, what string) {
	if !holds {
		need(fmt.Errorf("not as expected: %s", what))
	}
}

// until asks again until the answer is yes.
func until(what string, ask func() (bool, error)) {
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		isThere, err := ask()
		need(err)
		if isThere {
			return
		}
		expect(time.Now().Before(deadline), what)
	}
}

func main() {
	options, err := openstack.AuthOptionsFromEnv()
	need(err)
	provider, err := openstack.AuthenticatedClient(options)
	need(err)
	aboutIdentity(provider)
	node := onBareMetal(provider)
	inPlacement(provider, node)
	inCompute(provider)
}

func aboutIdentity(provider *gophercloud.ProviderClient) {
	client, err := openstack.NewIdentityV3(provider, everywhere)
	need(err)

	page, err := projects.List(client, nil).AllPages()
	need(err)
	known, err := projects.ExtractProjects(page)
	need(err)
	fmt.Println("project", known[0].Name)

	page, err = users.List(client, nil).AllPages()
	need(err)
	people, err := users.ExtractUsers(page)
	need(err)
	fmt.Println("user", people[0].Name)

	page, err = identity.List(client, identity.ListOpts{ServiceType: "compute"}).AllPages()
	need(err)
	apis, err := identity.ExtractServices(page)
	need(err)
	page, err = endpoints.List(client, endpoints.ListOpts{ServiceID: apis[0].ID}).AllPages()
	need(err)
	places, err := endpoints.ExtractEndpoints(page)
	need(err)
	page, err = regions.List(client, nil).AllPages()
	need(err)
	areas, err := regions.ExtractRegions(page)
	need(err)
	fmt.Println("service", apis[0].Type, len(places), areas[0].ID)
}

func onBareMetal(provider *gophercloud.ProviderClient) string {
	// The catalog has no version in its URL, and this client adds none.
	client, err := openstack.NewBareMetalV1(provider, everywhere)
	need(err)
	client.Microversion = "1.58"

	made, err := nodes.Create(client, nodes.CreateOpts{Driver: "fake-hardware", Name: "go", ResourceClass: "gpu"}).Extract()
	need(err)
	become := func(target nodes.TargetProvisionState, state string) {
		need(nodes.ChangeProvisionState(client, made.UUID, nodes.ProvisionStateOpts{Target: target}).ExtractErr())
		until("the node is "+state, func() (bool, error) {
			node, err := nodes.Get(client, made.UUID).Extract()
			return err == nil && node.ProvisionState == state, err
		})
	}
	become(nodes.TargetManage, "manageable")
	become(nodes.TargetProvide, "available")
	changed, err := nodes.Update(client, "go", nodes.UpdateOpts{
		nodes.UpdateOperation{Op: nodes.AddOp, Path: "/extra/note", Value: "from Go"},
	}).Extract()
	need(err)
	expect(changed.Extra["note"] == "from Go", "the node's extra")

	page, err := nodes.ListDetail(client, nodes.ListOpts{ResourceClass: "gpu"}).AllPages()
	need(err)
	all, err := nodes.ExtractNodes(page)
	need(err)
	fmt.Println("node", all[0].Name, all[0].ProvisionState)

	page, err = drivers.ListDrivers(client, drivers.ListDriversOpts{}).AllPages()
	need(err)
	offered, err := drivers.ExtractDrivers(page)
	need(err)
	fmt.Println("driver", offered[0].Name)

	wanted, err := allocations.Create(client, allocations.CreateOpts{ResourceClass: "gpu", Name: "mine"}).Extract()
	need(err)
	until("the allocation is active", func() (bool, error) {
		now, err := allocations.Get(client, wanted.UUID).Extract()
		return err == nil && now.State == "active" && now.NodeUUID == made.UUID, err
	})
	page, err = allocations.List(client, allocations.ListOpts{State: "active"}).AllPages()
	need(err)
	given, err := allocations.ExtractAllocations(page)
	need(err)
	fmt.Println("allocation", given[0].Name, given[0].State)
	need(allocations.Delete(client, "mine").ExtractErr())
	_, err = allocations.Get(client, wanted.UUID).Extract()
	_, isGone := err.(gophercloud.ErrDefault404)
	expect(isGone, fmt.Sprint("the allocation is gone: ", err))
	return made.UUID
}

func inPlacement(provider *gophercloud.ProviderClient, node string) {
	client, err := openstack.NewPlacementV1(provider, everywhere)
	need(err)
	client.Microversion = "1.20"

	page, err := resourceproviders.List(client, resourceproviders.ListOpts{}).AllPages()
	need(err)
	all, err := resourceproviders.ExtractResourceProviders(page)
	need(err)
	have, err := resourceproviders.GetInventories(client, node).Extract()
	need(err)
	used, err := resourceproviders.GetUsages(client, node).Extract()
	need(err)
	fmt.Println("provider", len(all), have.Inventories["CUSTOM_GPU"].Total, used.Usages["CUSTOM_GPU"])
	_, err = resourceproviders.GetTraits(client, node).Extract()
	need(err)

	// This version of gophercloud has no words for candidates.
	var found struct {
		Requests []interface{} `json:"allocation_requests"`
	}
	_, err = client.Get(client.ServiceURL("allocation_candidates")+"?resources=VCPU:1", &found, nil)
	need(err)
	fmt.Println("candidate", len(found.Requests))

	made, err := resourceproviders.Create(client, resourceproviders.CreateOpts{Name: "from-go"}).Extract()
	need(err)
	expect(made.Name == "from-go", "the provider's name")
}

func inCompute(provider *gophercloud.ProviderClient) {
	client, err := openstack.NewComputeV2(provider, everywhere)
	need(err)
	pictures, err := openstack.NewImageServiceV2(provider, everywhere)
	need(err)

	page, err := images.List(pictures, images.ListOpts{Name: "cirros"}).AllPages()
	need(err)
	known, err := images.ExtractImages(page)
	need(err)
	disk := 5
	size, err := flavors.Create(client, flavors.CreateOpts{Name: "from-go", VCPUs: 2, RAM: 1024, Disk: &disk}).Extract()
	need(err)
	page, err = flavors.ListDetail(client, nil).AllPages()
	need(err)
	sizes, err := flavors.ExtractFlavors(page)
	need(err)
	fmt.Println("flavor", sizes[0].Name, known[0].Name)

	wanted := servers.CreateOpts{Name: "vm", FlavorRef: size.ID, ImageRef: known[0].ID}
	first, err := servers.Create(client, wanted).Extract()
	need(err)
	need(servers.WaitForStatus(client, first.ID, "ACTIVE", 60))
	client.Microversion = "2.37"
	wanted.Networks = "none"
	second, err := servers.Create(client, wanted).Extract()
	need(err)
	need(servers.WaitForStatus(client, second.ID, "ACTIVE", 60))
	client.Microversion = ""

	need(startstop.Stop(client, first.ID).ExtractErr())
	need(servers.WaitForStatus(client, first.ID, "SHUTOFF", 60))
	renamed, err := servers.Update(client, first.ID, servers.UpdateOpts{Name: "renamed"}).Extract()
	need(err)
	page, err = servers.List(client, servers.ListOpts{Limit: 1}).AllPages()
	need(err)
	all, err := servers.ExtractServers(page)
	need(err)
	fmt.Println("server", len(all), renamed.Name, renamed.Status)

	page, err = hypervisors.List(client).AllPages()
	need(err)
	hosts, err := hypervisors.ExtractHypervisors(page)
	need(err)
	sums, err := hypervisors.GetStatistics(client).Extract()
	need(err)
	fmt.Println("hypervisor", hosts[0].HypervisorHostname, hosts[0].VCPUsUsed, sums.VCPUs)

	page, err = services.List(client, nil).AllPages()
	need(err)
	there, err := services.ExtractServices(page)
	need(err)
	page, err = availabilityzones.List(client).AllPages()
	need(err)
	zones, err := availabilityzones.ExtractAvailabilityZones(page)
	need(err)
	fmt.Println("zone", there[0].Binary, zones[0].ZoneName)

	most, err := limits.Get(client, nil).Extract()
	need(err)
	start := time.Now().Add(-time.Hour)
	page, err = usage.AllTenants(client, usage.AllTenantsOpts{Detailed: true, Start: &start}).AllPages()
	need(err)
	spent, err := usage.ExtractAllTenants(page)
	need(err)
	fmt.Println("usage", most.Absolute.TotalCoresUsed, len(spent[0].ServerUsages))

	for _, server := range all {
		need(servers.Delete(client, server.ID).ExtractErr())
	}
	_, err = servers.Get(client, first.ID).Extract()
	_, isGone := err.(gophercloud.ErrDefault404)
	expect(isGone, fmt.Sprint("the server is gone: ", err))
	need(flavors.Delete(client, size.ID).ExtractErr())
}
