"""The starting data that Placement's gabbi files name as fixtures, built through the HTTP API alone.

Upstream's fixtures reach into the service's own objects. These make the same data with public requests, then publish
the same environment variables for the YAML files to refer to. Writes are made one at a time in upstream's order, so
that provider and consumer generations come out the same.
"""
import http.client
import json
import os
import urllib.parse
import uuid


class FixtureError(Exception):
    """The server under test refused something a fixture needs."""


class Api:
    """A very small Placement client."""

    def __init__(self, base_url):
        parts = urllib.parse.urlsplit(base_url)
        self.host = parts.hostname
        self.port = parts.port
        self.prefix = parts.path.rstrip('/')

    def call(self, method, path, version, body=None, expect=(200, 201, 204)):
        link = http.client.HTTPConnection(self.host, self.port, timeout=30)
        headers = {'x-auth-token': 'admin',
                   'accept': 'application/json',
                   'openstack-api-version': 'placement %s' % version}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode('utf-8')
            headers['content-type'] = 'application/json'
        try:
            link.request(method, self.prefix + path, payload, headers)
            answer = link.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException) as exc:
            raise FixtureError('%s %s: %r' % (method, path, exc))
        finally:
            link.close()
        if answer.status not in expect:
            raise FixtureError('%s %s (microversion %s) answered %s: %s' % (
                method, path, version, answer.status,
                raw[:300].decode('utf-8', 'replace')))
        if not raw:
            return answer.status, None
        try:
            return answer.status, json.loads(raw.decode('utf-8'))
        except ValueError:
            return answer.status, None


class Loader:
    """Verbs the fixture functions are written in."""

    def __init__(self, api):
        self.api = api
        self._known_classes = set()
        self._known_traits = set()

    # -- small helpers ----------------------------------------------------
    @staticmethod
    def env(**names):
        for name, value in names.items():
            os.environ[name] = value

    @staticmethod
    def new_uuid():
        return str(uuid.uuid4())

    def _generation(self, rp):
        _, body = self.api.call('GET', '/resource_providers/%s' % rp, '1.0')
        try:
            return body['generation']
        except (TypeError, KeyError):
            raise FixtureError(
                'GET /resource_providers/%s: no generation in %r' % (rp, body))

    # -- verbs ------------------------------------------------------------
    def provider(self, name, *aggregates, **kwargs):
        rp = kwargs.get('uuid') or self.new_uuid()
        body = {'name': name, 'uuid': rp}
        if kwargs.get('parent'):
            body['parent_provider_uuid'] = kwargs['parent']
        # 1.14 is the first version that knows parents.
        self.api.call('POST', '/resource_providers', '1.14', body)
        if aggregates:
            self.aggregates(rp, *aggregates)
        if kwargs.get('env'):
            os.environ[kwargs['env']] = rp
        return rp

    def aggregates(self, rp, *aggregates):
        # Before 1.19 setting aggregates leaves the generation alone, which is
        # what upstream's fixtures do too.
        self.api.call('PUT', '/resource_providers/%s/aggregates' % rp, '1.1',
                      list(aggregates))

    def resource_class(self, name):
        if name.startswith('CUSTOM_') and name not in self._known_classes:
            self.api.call('PUT', '/resource_classes/%s' % name, '1.7')
            self._known_classes.add(name)

    def inventory(self, rp, rc, total, **fields):
        self.resource_class(rc)
        fields.setdefault('max_unit', total)
        body = dict(fields, resource_class=rc, total=total,
                    resource_provider_generation=self._generation(rp))
        self.api.call('POST', '/resource_providers/%s/inventories' % rp,
                      '1.0', body)

    def traits(self, rp, *traits):
        for name in traits:
            if name.startswith('CUSTOM_') and name not in self._known_traits:
                self.api.call('PUT', '/traits/%s' % name, '1.6')
                self._known_traits.add(name)
        self.api.call('PUT', '/resource_providers/%s/traits' % rp, '1.6',
                      {'traits': list(traits),
                       'resource_provider_generation': self._generation(rp)})

    def allocation(self, rp, resources, project, user, env=None):
        consumer = self.new_uuid()
        # 1.28: consumer generations exist, consumer types do not.
        self.api.call('PUT', '/allocations/%s' % consumer, '1.28', {
            'allocations': {rp: {'resources': resources}},
            'project_id': project, 'user_id': user,
            'consumer_generation': None})
        if env:
            os.environ[env] = consumer
        return consumer


# ---------------------------------------------------------------------------
# the fixtures


def base(ld):
    """No data at all: only names for the tests to use."""
    for name in ('RP_UUID', 'RP_NAME', 'RP_UUID1', 'RP_NAME1', 'RP_UUID2',
                 'RP_NAME2', 'PROJECT_ID', 'ADMIN_PROJECT_ID',
                 'SERVICE_PROJECT_ID', 'USER_ID', 'PROJECT_ID_ALT',
                 'USER_ID_ALT', 'INSTANCE_UUID', 'MIGRATION_UUID',
                 'CONSUMER_UUID', 'PARENT_PROVIDER_UUID',
                 'ALT_PARENT_PROVIDER_UUID'):
        os.environ[name] = ld.new_uuid()
    ld.env(CUSTOM_RES_CLASS='CUSTOM_IRON_NFV',
           CUSTOM_RES_CLASS1='CUSTOM_IRON_NFV1',
           CUSTOM_RES_CLASS2='CUSTOM_IRON_NFV2')


def allocation(ld):
    """One provider, three consumers of two users in one project."""
    base(ld)
    for name in ('ALT_USER_ID', 'ALT_RP_UUID', 'ALT_RP_NAME'):
        os.environ[name] = ld.new_uuid()
    project = os.environ['PROJECT_ID']
    user, other = os.environ['USER_ID'], os.environ['ALT_USER_ID']
    rp = ld.provider(os.environ['RP_NAME'], uuid=os.environ['RP_UUID'])
    ld.inventory(rp, 'DISK_GB', 2048, step_size=10, min_unit=10, max_unit=1000)
    ld.inventory(rp, 'VCPU', 10)
    ld.allocation(rp, {'DISK_GB': 1000}, project, user, env='CONSUMER_0')
    ld.allocation(rp, {'VCPU': 6}, project, user, env='CONSUMER_ID')
    ld.allocation(rp, {'DISK_GB': 20, 'VCPU': 1}, project, other,
                  env='ALT_CONSUMER_ID')


SHARES = 'MISC_SHARES_VIA_AGGREGATE'


def shared_storage(ld):
    """Two hosts with NUMA and PF children, two sharing stores, 1 aggregate."""
    base(ld)
    agg = ld.new_uuid()
    ld.env(AGG_UUID=agg)
    hosts = [ld.provider('cn%d' % i, agg, env='CN%d_UUID' % i) for i in (1, 2)]
    stores = [ld.provider('ss', agg, env='SS_UUID'),
              ld.provider('ss2', agg, env='SS2_UUID')]
    numas = []
    for i, host in enumerate(hosts, 1):
        for j in (1, 2):
            numas.append(('%d_%d' % (i, j), ld.provider(
                'numa%d_%d' % (i, j), parent=host,
                env='NUMA%d_%d_UUID' % (i, j))))
    pfs = [ld.provider('pf' + tag, parent=numa, env='PF%s_UUID' % tag)
           for tag, numa in numas]
    for host in hosts:
        ld.inventory(host, 'VCPU', 24, allocation_ratio=16.0)
        ld.inventory(host, 'MEMORY_MB', 128 * 1024, allocation_ratio=1.5)
    ld.traits(hosts[0], 'HW_CPU_X86_SSE', 'HW_CPU_X86_SSE2')
    ld.inventory(hosts[1], 'DISK_GB', 2000, reserved=100, allocation_ratio=1.0)
    for store in stores:
        ld.inventory(store, 'DISK_GB', 2000, reserved=100,
                     allocation_ratio=1.0)
        ld.traits(store, SHARES)
    for pf in pfs:
        ld.inventory(pf, 'SRIOV_NET_VF', 8, allocation_ratio=1.0)


def numa_aggregate(ld):
    """Resource-less hosts with NUMA children; sharing at two tree levels."""
    base(ld)
    a, b, c = [ld.new_uuid() for _ in 'abc']
    ld.env(AGGA_UUID=a, AGGB_UUID=b, AGGC_UUID=c)
    cn1 = ld.provider('cn1', a, env='CN1_UUID')
    cn2 = ld.provider('cn2', a, b, env='CN2_UUID')
    stores = [ld.provider('ss1', a, env='SS1_UUID'),
              ld.provider('ss2', c, env='SS2_UUID')]
    numas = [ld.provider('numa1_1', c, parent=cn1, env='NUMA1_1_UUID'),
             ld.provider('numa1_2', parent=cn1, env='NUMA1_2_UUID'),
             ld.provider('numa2_1', parent=cn2, env='NUMA2_1_UUID'),
             ld.provider('numa2_2', parent=cn2, env='NUMA2_2_UUID')]
    for numa in numas:
        ld.inventory(numa, 'VCPU', 24, allocation_ratio=16.0)
    for store in stores:
        ld.inventory(store, 'DISK_GB', 2000, reserved=100,
                     allocation_ratio=1.0)
        ld.traits(store, SHARES)


def numa_network(ld, cn1=None, cn2=None):
    """A NUMA+accelerator+network tree and a NIC tree, sharing one store."""
    if not cn1:
        base(ld)
    project, user = 'numafx-project', 'numafx-user'
    agg = ld.new_uuid()
    ld.env(AGGA_UUID=agg)
    store = ld.provider('ss1', agg, env='SS1_UUID')
    ld.traits(store, SHARES)
    ld.inventory(store, 'DISK_GB', 2000)

    cn1 = cn1 or ld.provider('cn1')
    ld.aggregates(cn1, agg)
    ld.traits(cn1, 'COMPUTE_VOLUME_MULTI_ATTACH')
    ld.env(CN1_UUID=cn1)
    numa0 = ld.provider('numa0', parent=cn1, env='NUMA0_UUID')
    ld.traits(numa0, 'HW_NUMA_ROOT')
    ld.inventory(numa0, 'VCPU', 4)
    numa1 = ld.provider('numa1', parent=cn1, env='NUMA1_UUID')
    ld.traits(numa1, 'HW_NUMA_ROOT', 'CUSTOM_FOO')
    ld.inventory(numa1, 'VCPU', 4)
    ld.inventory(numa0, 'MEMORY_MB', 2048, min_unit=512, step_size=256)
    ld.inventory(numa1, 'MEMORY_MB', 2048, min_unit=256, max_unit=1024)
    ld.allocation(numa0, {'VCPU': 2}, project, user)
    fpga = ld.provider('fpga0', parent=numa0, env='FPGA0_UUID')
    ld.inventory(fpga, 'FPGA', 1)
    pgpu = ld.provider('pgpu0', parent=numa0, env='PGPU0_UUID')
    ld.inventory(pgpu, 'VGPU', 8)
    for i in (0, 1):
        fpga = ld.provider('fpga1_%d' % i, parent=numa1,
                           env='FPGA1_%d_UUID' % i)
        ld.inventory(fpga, 'FPGA', 1)
    agent = ld.provider('sriov_agent', parent=cn1, env='SRIOV_AGENT_UUID')
    ld.traits(agent, 'CUSTOM_VNIC_TYPE_DIRECT')
    for i in (1, 2):
        dev = ld.provider('esn%d' % i, parent=agent, env='ESN%d_UUID' % i)
        ld.traits(dev, 'CUSTOM_PHYSNET%d' % i)
        ld.inventory(dev, 'NET_BW_EGR_KILOBIT_PER_SEC', 10000 * i)
    agent = ld.provider('ovs_agent', parent=cn1, env='OVS_AGENT_UUID')
    ld.traits(agent, 'CUSTOM_VNIC_TYPE_NORMAL')
    dev = ld.provider('br_int', parent=agent, env='BR_INT_UUID')
    ld.traits(dev, 'CUSTOM_PHYSNET0')
    ld.inventory(dev, 'NET_BW_EGR_KILOBIT_PER_SEC', 1000)

    cn2 = cn2 or ld.provider('cn2')
    ld.env(CN2_UUID=cn2)
    ld.aggregates(cn2, agg)
    ld.inventory(cn2, 'VCPU', 8)
    ld.allocation(cn2, {'VCPU': 3}, project, user)
    ld.inventory(cn2, 'MEMORY_MB', 2048, min_unit=1024, step_size=128)
    ld.inventory(cn2, 'DISK_GB', 1000)
    ld.traits(cn2, 'CUSTOM_FOO')
    nics = []
    for i in (1, 2, 3):
        nic = ld.provider('nic%d' % i, parent=cn2, env='NIC%d_UUID' % i)
        ld.traits(nic, 'CUSTOM_HW_NIC_ROOT')
        nics.append(nic)
    # (tag, which NIC, which physical network, virtual functions)
    for tag, nic, net, vfs in (
            ('1_1', 0, 1, 4), ('1_2', 0, 2, 4),
            ('2_1', 1, 1, 2), ('2_2', 1, 2, 2),
            ('2_3', 1, 1, 2), ('2_4', 1, 2, 2),
            ('3_1', 2, 1, 8)):
        pf = ld.provider('pf' + tag, parent=nics[nic], env='PF%s_UUID' % tag)
        ld.traits(pf, 'CUSTOM_PHYSNET%d' % net)
        ld.inventory(pf, 'CUSTOM_VF', vfs)


def deep_numa_network(ld):
    """numa_network with the two hosts two levels further down one tree."""
    base(ld)
    top = ld.provider('gp1')
    p1 = ld.provider('p1', parent=top)
    p2 = ld.provider('p2', parent=top)
    cn1 = ld.provider('cn1', parent=p1)
    cn2 = ld.provider('cn2', parent=p2)
    numa_network(ld, cn1, cn2)


def non_shared_storage(ld):
    """Three plain hosts; aggregates are named but not yet joined."""
    base(ld)
    ld.env(AGGA_UUID=ld.new_uuid(), AGGB_UUID=ld.new_uuid(),
           AGGC_UUID=ld.new_uuid())
    hosts = [ld.provider('cn%d' % i, env='CN%d_UUID' % i) for i in (1, 2, 3)]
    for host in hosts:
        ld.inventory(host, 'VCPU', 24)
        ld.inventory(host, 'MEMORY_MB', 128 * 1024)
        ld.inventory(host, 'DISK_GB', 2000)


def granular(ld):
    """Three hosts and three sharing providers over three aggregates."""
    base(ld)
    ld.resource_class('CUSTOM_NET_MBPS')
    a, b, c = [ld.new_uuid() for _ in 'abc']
    ld.env(AGGA=a, AGGB=b, AGGC=c)

    left = ld.provider('cn_left', a, env='CN_LEFT')
    for rc, total in (('VCPU', 8), ('MEMORY_MB', 4096), ('DISK_GB', 500),
                      ('VGPU', 8), ('SRIOV_NET_VF', 8),
                      ('CUSTOM_NET_MBPS', 4000)):
        ld.inventory(left, rc, total)
    ld.traits(left, 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2', 'HW_GPU_API_DXVA',
              'HW_NIC_DCB_PFC', 'CUSTOM_FOO')

    middle = ld.provider('cn_middle', a, b, env='CN_MIDDLE')
    for rc, total in (('VCPU', 8), ('MEMORY_MB', 4096), ('SRIOV_NET_VF', 8),
                      ('CUSTOM_NET_MBPS', 4000)):
        ld.inventory(middle, rc, total)
    ld.traits(middle, 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2', 'HW_CPU_X86_SSE',
              'HW_NIC_ACCEL_TLS')

    right = ld.provider('cn_right', b, c, env='CN_RIGHT')
    for rc, total in (('VCPU', 8), ('MEMORY_MB', 4096), ('DISK_GB', 500)):
        ld.inventory(right, rc, total)
    ld.inventory(right, 'VGPU', 8, max_unit=2)
    ld.traits(right, 'HW_CPU_X86_MMX', 'HW_GPU_API_DXVA', 'CUSTOM_DISK_SSD')

    disk1 = ld.provider('shr_disk_1', a, env='SHR_DISK_1')
    ld.inventory(disk1, 'DISK_GB', 1000)
    ld.traits(disk1, SHARES, 'CUSTOM_DISK_SSD')
    disk2 = ld.provider('shr_disk_2', a, b, env='SHR_DISK_2')
    ld.inventory(disk2, 'DISK_GB', 1000)
    ld.traits(disk2, SHARES)
    net = ld.provider('shr_net', c, env='SHR_NET')
    ld.inventory(net, 'SRIOV_NET_VF', 16)
    ld.inventory(net, 'CUSTOM_NET_MBPS', 40000)
    ld.traits(net, SHARES)


def neutron_qos_multisegment(ld):
    """Four hosts with OVS and SR-IOV agent subtrees on physical networks."""
    base(ld)
    direct = ('CUSTOM_VNIC_TYPE_DIRECT', 'CUSTOM_VNIC_TYPE_DIRECT_PHYSICAL',
              'CUSTOM_VNIC_TYPE_MACVTAP')
    normal = ('CUSTOM_VNIC_TYPE_NORMAL',)

    def device(env, name, parent, bandwidth, traits):
        rp = ld.provider(name, parent=parent, env=env)
        ld.inventory(rp, 'NET_BW_EGR_KILOBIT_PER_SEC', bandwidth)
        ld.inventory(rp, 'NET_BW_IGR_KILOBIT_PER_SEC', bandwidth)
        ld.traits(rp, *traits)

    # per host: bandwidth of a bridge, of a PF, physical networks in order
    for i, (bridge_bw, pf_bw, nets) in enumerate((
            (5000, 10000, ['OTHER']),
            (5000, 10000, ['MSN_S1']),
            (5000, 10000, ['MSN_S2']),
            (1000, 1000, ['MSN_S1', 'MSN_S2']))):
        host = 'compute%d' % i
        root = ld.provider(host, env=host)
        ld.inventory(root, 'VCPU', 8)
        ld.inventory(root, 'MEMORY_MB', 4096)
        ld.inventory(root, 'DISK_GB', 500)
        ovs_name = host + ':Open vSwitch agent'
        ovs = ld.provider(ovs_name, parent=root, env=host + ':ovs_agent')
        ld.inventory(ovs, 'NET_PACKET_RATE_KILOPACKET_PER_SEC', 1000)
        ld.traits(ovs, *normal)
        for n, net in enumerate(nets):
            suffix = '' if n == 0 else str(n + 1)
            device('%s:br_ex%s' % (host, suffix),
                   '%s:br-ex%s' % (ovs_name, suffix),
                   ovs, bridge_bw, normal + ('CUSTOM_PHYSNET_' + net,))
        nic_name = host + ':NIC Switch agent'
        nic = ld.provider(nic_name, parent=root, env=host + ':sriov_agent')
        ld.traits(nic, *direct)
        for n, net in enumerate(nets):
            device('%s:pf%d' % (host, n), '%s:enp129s0f%d' % (nic_name, n),
                   nic, pf_bw, direct + ('CUSTOM_PHYSNET_' + net,))


FIXTURES = {
    'APIFixture': base,
    'AllocationFixture': allocation,
    'SharedStorageFixture': shared_storage,
    'NUMAAggregateFixture': numa_aggregate,
    'NUMANetworkFixture': numa_network,
    'DeepNUMANetworkFixture': deep_numa_network,
    'NonSharedStorageFixture': non_shared_storage,
    'GranularFixture': granular,
    'NeutronQoSMultiSegmentFixture': neutron_qos_multisegment,
    # These differ in how the server is configured, not in data.
    'LegacyRBACPolicyFixture': base,
    'OpenPolicyFixture': base,
    'SecureRBACPolicyFixture': base,
    'CORSFixture': base,
}


def load(names, base_url):
    loader = Loader(Api(base_url))
    for name in names:
        if name not in FIXTURES:
            raise FixtureError('unknown fixture %s' % name)
        FIXTURES[name](loader)
