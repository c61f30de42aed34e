// SPDX-License-Identifier: GPL-3.0-or-later
// flowsim.cc - the flows of jobs on a network, by SimGrid's max-min sharing
//
// Reads what weft export --to simgrid writes: the platform, and the calls of
// jobs with the GPUs of their groups.  Expands collectives into flows by
// itself, by the rules of weft-export(1), so that a mistake in weft's own
// counting of links shows.  SimGrid finds the links between two GPUs; a flow is
// one transfer over them, and equal flows share links equally.
//
//	flowsim [OPTION...] PLATFORM CALLS...
//
// One job: the seconds of each axis, and of each stage of it.  Several: each
// repeats its calls, with gaps in between, and is compared with itself alone.
//	--axis NAME	only this axis' calls
//	--paths K	each link above a switch is K links, of which each flow
//			takes one at random
//	--seed N	of all that is random
//	--duty D,...	share of the time that each of several jobs sends
//	--bursts N	how often, about, each of them sends
//	--loads		also the time of the fullest link of each call
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace s4u = simgrid::s4u;
namespace routing = simgrid::kernel::routing;
using Link = s4u::Link;

// How long a phase lasts in the simulator, about: bytes are scaled to it, since
// SimGrid takes events within 10 us for one.
static const double PHASE_S = 20;
// That start the flows of a job.
static const unsigned N_ACTORS = 32;

[[noreturn]] static void die(const std::string &text)
{
	fprintf(stderr, "flowsim: %s\n", text.c_str());
	exit(1);
}

// ---- flows ----

struct Flow {
	std::vector<Link *> path;
	double bytes;
	unsigned stage;
};

// A zone of hosts at which a transfer, to the host itself, takes whatever way was
// set before it started.
class FlowZone : public routing::NetZoneImpl {
public:
	FlowZone() : NetZoneImpl("flows:")
	{
	}
	void borrow_models(const NetZoneImpl *z)
	{
		set_network_model(z->get_network_model());
		set_cpu_pm_model(z->get_cpu_pm_model());
		set_cpu_vm_model(z->get_cpu_vm_model());
		set_host_model(z->get_host_model());
		set_disk_model(z->get_disk_model());
	}
	void get_graph(const s_xbt_graph_t *,
		       std::map<std::string, xbt_node_t, std::less<>> *,
		       std::map<std::string, xbt_edge_t, std::less<>> *) override
	{
	}
	void get_local_route(const routing::NetPoint *from,
			     const routing::NetPoint *, routing::Route *into,
			     double *) override
	{
		for (const Link *link : *next[from->get_name()])
			into->link_list_.push_back(link->get_impl());
	}
	std::map<std::string, const std::vector<Link *> *> next;
};

// Where the actors that start the flows of a job are.
using Port = std::vector<s4u::Host *>;

// Starts every n-th flow and waits for them.  SimGrid looks for a transfer in a
// list of its actor's when it ends, so many are shared out to many actors; and
// by a mailbox, since transfers without one are all in one list.
static void part_run(FlowZone *zone, const Port &port, size_t first,
		     const std::vector<Flow> &flows, double scale,
		     std::vector<double> &end)
{
	const std::string &name = port[first]->get_name();
	s4u::Mailbox *box = s4u::Mailbox::by_name(name);
	std::vector<s4u::CommPtr> puts, gets;
	std::vector<char *> got(flows.size());
	char token;

	for (size_t i = first; i < flows.size(); i += port.size()) {
		uint64_t bytes = (uint64_t)std::llround(flows[i].bytes * scale);

		gets.push_back(box->get_async<char>(&got[i]));
		zone->next[name] = &flows[i].path;
		puts.push_back(box->put_async(&token, bytes));
	}
	s4u::Comm::wait_all(gets);
	for (size_t i = first, k = 0; k < gets.size(); i += port.size(), k++)
		end[i] = gets[k]->get_finish_time();
}

// Runs flows at once, inside of an actor; returns when the last of each stage
// ends, seconds from now.
static std::map<unsigned, double> flows_run(FlowZone *zone, const Port &port,
					    const std::vector<Flow> &flows,
					    double scale)
{
	double start = s4u::Engine::get_clock();
	std::vector<double> end(flows.size());
	std::map<unsigned, double> last;
	std::vector<s4u::ActorPtr> actors;

	for (size_t k = 0; k < port.size() && k < flows.size(); k++)
		actors.push_back(
			s4u::Actor::create("flows", port[k], [&, k]() {
				part_run(zone, port, k, flows, scale, end);
			}));
	for (const s4u::ActorPtr &actor : actors)
		actor->join();
	for (size_t i = 0; i < flows.size(); i++) {
		double &s = last[flows[i].stage];

		s = std::max(s, end[i] - start);
	}
	for (auto &s : last)
		s.second /= scale;
	return last;
}

// Seconds that the fullest link needs.
static double fullest_s(const std::vector<Flow> &flows)
{
	std::unordered_map<Link *, double> bytes;
	double most = 0;

	for (const Flow &f : flows)
		for (Link *link : f.path)
			bytes[link] += f.bytes;
	for (const auto &b : bytes)
		most = std::max(most, b.second / b.first->get_bandwidth());
	return most;
}

// ---- the network ----

struct Gpu {
	s4u::Host *host;
	s4u::NetZone *node; // or NVLink domain of several nodes
	std::string nvlink;
	unsigned rail;
};

class Network {
public:
	explicit Network(const char *path, unsigned paths, unsigned seed)
		: n_paths(paths), random(seed)
	{
		s4u::Engine *e = s4u::Engine::get_instance();

		e->load_platform(path);
		root = e->get_netzone_root();
		for (s4u::Host *h : e->get_all_hosts())
			gpu_add(h);
		zone = new FlowZone;
		zone->borrow_models(e->get_netzone_root()->get_impl());
		const char *rails = e->get_netzone_root()->get_property("rails");
		const char *word = e->get_netzone_root()->get_property("pxn");

		has_rails = rails && atoi(rails) > 1;
		pxn = word && strcmp(word, "yes") == 0;
	}
	Port port(unsigned job)
	{
		Port port;

		for (unsigned i = 0; i < N_ACTORS; i++) {
			std::string name = "job" + std::to_string(job) + ":" +
					   std::to_string(i);

			port.push_back(zone->create_host(name, {1e9})->seal());
		}
		return port;
	}
	void seal()
	{
		if (n_paths > 1)
			for (const auto &z :
			     s4u::Engine::get_instance()
				     ->get_netzone_root()
				     ->get_children())
				split(z, 1);
		zone->get_iface()->seal();
		s4u::Engine::get_instance()->seal_platform();
	}
	const Gpu &gpu(const std::string &name) const
	{
		auto found = gpus.find(name);

		if (found == gpus.end())
			die("no GPU \"" + name + "\" in the platform");
		return found->second;
	}
	std::vector<Link *> path(const Gpu &a, const Gpu &b);
	FlowZone *zone;

private:
	void gpu_add(s4u::Host *h);
	void split(s4u::NetZone *z, int depth);
	bool passes(const Gpu &a, const Gpu &b) const;
	void leg(const s4u::Host *a, const s4u::Host *b,
		 std::vector<Link *> &into) const;
	const Gpu *proxy(const Gpu &a, const Gpu &b) const;
	void hash(std::vector<Link *> &path);

	unsigned n_paths;
	s4u::NetZone *root;
	std::mt19937 random;
	bool has_rails, pxn;
	std::unordered_map<std::string, Gpu> gpus;
	std::map<s4u::NetZone *, std::vector<const Gpu *>> of_node;
	std::set<s4u::NetZone *> wide; // of several nodes
	// the parallel links that a link stands for, and its depth
	struct Bundle {
		int depth;
		std::vector<Link *> links;
	};
	std::unordered_map<Link *, Bundle> bundles;
};

static std::string node_name(const Gpu &gpu)
{
	const std::string &name = gpu.host->get_name();

	return name.substr(0, name.rfind(':'));
}

void Network::gpu_add(s4u::Host *h)
{
	const char *nvlink = h->get_property("nvlink");
	const char *rail = h->get_property("rail");

	// switches where messages turn around are hosts, too
	if (!nvlink || !rail)
		return;
	Gpu &gpu = gpus[h->get_name()];
	gpu = {h, h->get_englobing_zone(), nvlink, (unsigned)atoi(rail)};
	of_node[gpu.node].push_back(&gpu);
	if (node_name(gpu) != node_name(*of_node[gpu.node][0]))
		wide.insert(gpu.node);
}

// Links above the zones below z that have switches of their own.
void Network::split(s4u::NetZone *z, int depth)
{
	static const char *const ways[] = {"/up", "/down"};

	if (z->get_children().empty())
		return;
	for (const char *way : ways) {
		std::string name = z->get_name() + way;
		s4u::Link *link = s4u::Link::by_name_or_null(name);

		if (!link)
			continue;
		Bundle &bundle = bundles[link];

		bundle.depth = depth;
		for (unsigned i = 0; i < n_paths; i++)
			bundle.links.push_back(
				zone->create_link(
					    name + ":" + std::to_string(i),
					    {link->get_bandwidth() / n_paths})
					->seal());
	}
	for (s4u::NetZone *child : z->get_children())
		split(child, depth + 1);
}

void Network::leg(const s4u::Host *a, const s4u::Host *b,
		  std::vector<Link *> &into) const
{
	std::vector<s4u::Link *> links;
	double latency = 0;

	a->route_to(b, links, &latency);
	for (s4u::Link *link : links)
		if (link->get_sharing_policy() !=
		    s4u::Link::SharingPolicy::FATPIPE)
			into.push_back(link);
}

// Whether messages go to the NIC of another rail over NVLink: not where this
// joins several nodes, since the job need not have those.
bool Network::passes(const Gpu &a, const Gpu &b) const
{
	return pxn && !wide.count(a.node) && !wide.count(b.node);
}

// The GPU of a's node on b's rail; of several, the one in b's place.
const Gpu *Network::proxy(const Gpu &a, const Gpu &b) const
{
	std::vector<const Gpu *> there;
	unsigned place = 0;

	for (const Gpu *g : of_node.at(a.node))
		if (g->rail == b.rail)
			there.push_back(g);
	for (const Gpu *g : of_node.at(b.node)) {
		if (g == &b)
			break;
		place += g->rail == b.rail;
	}
	return there.empty() ? nullptr : there[place % there.size()];
}

// One of the parallel links at each switch; who comes up by the k-th goes down
// by the k-th.
void Network::hash(std::vector<Link *> &path)
{
	std::map<int, unsigned> drawn;

	for (Link *&link : path) {
		auto found = bundles.find(link);

		if (found == bundles.end())
			continue;
		auto draw = drawn.emplace(found->second.depth, 0);

		if (draw.second)
			draw.first->second = random() % n_paths;
		link = found->second.links[draw.first->second];
	}
}

std::vector<Link *> Network::path(const Gpu &a, const Gpu &b)
{
	std::vector<Link *> links;
	const Gpu *via = nullptr;

	if (has_rails && a.node != b.node && a.rail != b.rail) {
		s4u::NetZone *leaf = a.node->get_parent();

		if (passes(a, b)) {
			via = proxy(a, b);
		} else if (!pxn && leaf == b.node->get_parent()) {
			// up to the next level's switch, and back
			const s4u::Host *turn = nullptr;

			if (leaf != root)
				turn = s4u::Host::by_name_or_null(
					leaf->get_parent()->get_name() +
					"/switch");
			if (turn) {
				leg(a.host, turn, links);
				leg(turn, b.host, links);
				hash(links);
				return links;
			}
		}
	}
	if (via)
		leg(a.host, via->host, links);
	leg(via ? via->host : a.host, b.host, links);
	hash(links);
	return links;
}

// ---- collectives to flows ----

struct Row {
	unsigned call, stage;
	std::string axis, phase, collective, algorithm;
	double count, bytes;
	std::vector<const Gpu *> gpus;
};

class Expander {
public:
	Expander(Network &n, std::vector<Flow> &f) : net(n), flows(f)
	{
	}
	void row(const Row &row, double bytes);

private:
	void send(const Gpu &a, const Gpu &b, double bytes)
	{
		if (&a != &b)
			flows.push_back({net.path(a, b), bytes, stage});
	}
	void ring(const std::vector<const Gpu *> &gpus, double bytes);
	void trees(const std::vector<const Gpu *> &gpus, double bytes);
	void inside(const std::vector<const Gpu *> &gpus, bool all,
		    double bytes);
	void hop(const std::vector<const Gpu *> &a,
		 const std::vector<const Gpu *> &b, double bytes);
	void sends(const Row &row, double bytes);

	Network &net;
	std::vector<Flow> &flows;
	unsigned stage = 0;
};

// The parts of a group by some name, in the order of first appearance, and
// inside of each in the order of the GPUs' names.
template <typename Key>
static std::vector<std::vector<const Gpu *>>
parts_of(const std::vector<const Gpu *> &gpus, Key key)
{
	std::map<decltype(key(*gpus[0])), size_t> seen;
	std::vector<std::vector<const Gpu *>> parts;

	for (const Gpu *g : gpus) {
		auto known = seen.emplace(key(*g), parts.size());

		if (known.second)
			parts.emplace_back();
		parts[known.first->second].push_back(g);
	}
	for (auto &part : parts)
		std::sort(part.begin(), part.end(),
			  [](const Gpu *a, const Gpu *b) {
				  return a->rail != b->rail
						 ? a->rail < b->rail
						 : a->host->get_name() <
							   b->host->get_name();
			  });
	return parts;
}

// A ring's bytes once from one domain to the next, over all NICs of both: each
// sends and receives an equal part, to and from its own rail as far as it can.
void Expander::hop(const std::vector<const Gpu *> &a,
		   const std::vector<const Gpu *> &b, double bytes)
{
	std::vector<double> out(a.size(), bytes / (double)a.size());
	std::vector<double> in(b.size(), bytes / (double)b.size());

	for (int any_rail = 0; any_rail < 2; any_rail++) {
		for (size_t i = 0; i < a.size(); i++) {
			for (size_t j = 0; j < b.size(); j++) {
				double part = std::min(out[i], in[j]);

				if ((!any_rail && a[i]->rail != b[j]->rail) ||
				    part < 1e-9 * bytes)
					continue;
				send(*a[i], *b[j], part);
				out[i] -= part;
				in[j] -= part;
			}
		}
	}
}

// Around an NVLink domain.  Where the ring leaves it, it does so from another
// member on each of its channels, which does not pass it on inside.
void Expander::inside(const std::vector<const Gpu *> &gpus, bool all,
		      double bytes)
{
	size_t n = gpus.size();

	if (!all)
		bytes *= (double)(n - 1) / (double)n;
	for (size_t i = 0; n > 1 && i < n; i++)
		send(*gpus[i], *gpus[(i + 1) % n], bytes);
}

void Expander::ring(const std::vector<const Gpu *> &gpus, double bytes)
{
	auto nodes = parts_of(gpus, [](const Gpu &g) { return g.node; });

	for (size_t i = 0; i < nodes.size(); i++) {
		auto nvlinks = parts_of(nodes[i],
					[](const Gpu &g) { return g.nvlink; });
		size_t n = nvlinks.size();

		for (size_t d = 0; d < n; d++) {
			inside(nvlinks[d], nvlinks[d].size() == gpus.size(),
			       bytes);
			if (n > 1)
				hop(nvlinks[d], nvlinks[(d + 1) % n], bytes);
		}
		if (nodes.size() > 1)
			hop(nodes[i], nodes[(i + 1) % nodes.size()], bytes);
	}
}

// Where node v of n hangs in NCCL's binary tree; -1: it is the root.
static long tree_parent(long v, long n)
{
	long bit = 1;

	if (v == 0)
		return -1;
	while (!(v & bit))
		bit <<= 1;
	long up = (v ^ bit) | (bit << 1);

	return up < n ? up : v ^ bit;
}

// NCCL's double binary tree over nodes: half of the data goes up and down each.
// The second one is the first in reverse, or shifted by one where their number
// is odd, so that leaves of the one are not leaves of the other.
void Expander::trees(const std::vector<const Gpu *> &gpus, double bytes)
{
	auto nodes = parts_of(gpus, [](const Gpu &g) { return g.node; });
	long n = (long)nodes.size();

	// on one node the same chain on every channel
	for (size_t i = 1; n == 1 && i < gpus.size(); i++) {
		send(*nodes[0][i], *nodes[0][i - 1], bytes);
		send(*nodes[0][i - 1], *nodes[0][i], bytes);
	}
	if (n == 1)
		return;
	for (const auto &node : nodes) {
		auto nvlinks =
			parts_of(node, [](const Gpu &g) { return g.nvlink; });
		size_t m = nvlinks.size();

		for (size_t d = 0; d < m; d++) {
			inside(nvlinks[d], false, 2 * bytes);
			if (m > 1)
				hop(nvlinks[d], nvlinks[(d + 1) % m],
				    2 * bytes * (double)(m - 1) / (double)m);
		}
	}
	for (long v = 0; v < n; v++) {
		long up = tree_parent(v, n);

		if (up < 0)
			continue;
		for (int second = 0; second < 2; second++) {
			long a = v, b = up;

			if (second && n % 2) {
				a = (a + 1) % n;
				b = (b + 1) % n;
			} else if (second) {
				a = n - 1 - a;
				b = n - 1 - b;
			}
			hop(nodes[(size_t)a], nodes[(size_t)b], bytes / 2);
			hop(nodes[(size_t)b], nodes[(size_t)a], bytes / 2);
		}
	}
}

// A pipeline's stage sends to the next or, backward, to the one before; else
// each to the next, around.
void Expander::sends(const Row &row, double bytes)
{
	size_t n = row.gpus.size(), i = row.stage;

	if (row.axis == "pp") {
		size_t to = row.phase == "backward" ? i + n - 1 : i + 1;

		send(*row.gpus[i], *row.gpus[to % n], bytes);
		return;
	}
	for (i = 0; i < n; i++)
		send(*row.gpus[i], *row.gpus[(i + 1) % n], bytes);
}

void Expander::row(const Row &row, double bytes)
{
	double n = (double)row.gpus.size();

	stage = row.stage;
	if (row.collective == "send_recv") {
		sends(row, bytes);
	} else if (row.collective == "all_to_all") {
		for (const Gpu *a : row.gpus)
			for (const Gpu *b : row.gpus)
				send(*a, *b, bytes / n);
	} else if (row.algorithm == "tree") {
		trees(row.gpus, bytes);
	} else if (row.algorithm != "ring") {
		die("no rule for algorithm " + row.algorithm);
	} else if (row.collective == "all_reduce") {
		ring(row.gpus, 2 * (n - 1) / n * bytes);
	} else if (row.collective == "all_gather" ||
		   row.collective == "reduce_scatter") {
		ring(row.gpus, (n - 1) / n * bytes);
	} else {
		die("no rule for collective " + row.collective);
	}
}

// ---- the calls of a job ----

// Calls that are made by the same groups in the same way, added up: `bytes` of
// each row is that of the first call, `times` how many of it all are.
struct Kind {
	std::string axis;
	std::vector<Row> rows;
	double times = 1;
};

static std::vector<std::string> cells_of(const std::string &line)
{
	std::vector<std::string> cells(1);
	bool quoted = false;

	for (char c : line) {
		if (c == '"')
			quoted = !quoted;
		else if (c == ',' && !quoted)
			cells.emplace_back();
		else
			cells.back() += c;
	}
	return cells;
}

static Row row_read(const Network &net, const std::string &line)
{
	std::vector<std::string> cells = cells_of(line);
	Row row;

	if (cells.size() != 10)
		die("a row of calls with " + std::to_string(cells.size()) +
		    " cells");
	row.call = (unsigned)std::stoul(cells[0]);
	row.axis = cells[1];
	row.phase = cells[2];
	row.collective = cells[3];
	row.algorithm = cells[4];
	row.stage = (unsigned)std::stoul(cells[6]);
	row.count = std::stod(cells[7]);
	row.bytes = row.count * std::stod(cells[8]);
	std::istringstream names(cells[9]);
	std::string name;

	while (names >> name)
		row.gpus.push_back(&net.gpu(name));
	return row;
}

// What two calls must have in common to be added up.
static std::string signature(const std::vector<Row> &rows)
{
	std::ostringstream text;

	text.precision(9);
	text << rows[0].axis << rows[0].collective << rows[0].algorithm;
	if (rows[0].collective == "send_recv")
		text << rows[0].phase;
	for (const Row &r : rows) {
		text << '/' << r.stage << ' ' << r.bytes / rows[0].bytes;
		for (const Gpu *g : r.gpus)
			text << ' ' << g;
	}
	return text.str();
}

static std::vector<Kind> calls_read(const Network &net, const char *path,
				    const std::string &axis)
{
	std::ifstream in(path);
	std::map<unsigned, std::vector<Row>> calls;
	std::map<std::string, size_t> seen;
	std::vector<Kind> kinds;
	std::string line;

	if (!in || !std::getline(in, line))
		die(std::string("cannot read ") + path);
	while (std::getline(in, line)) {
		Row row = row_read(net, line);

		if (axis.empty() || row.axis == axis)
			calls[row.call].push_back(row);
	}
	for (const auto &c : calls) {
		const std::vector<Row> &rows = c.second;
		auto known = seen.emplace(signature(rows), kinds.size());

		if (known.second) {
			kinds.emplace_back();
			kinds.back().axis = rows[0].axis;
			kinds.back().rows = rows;
			continue;
		}
		Kind &kind = kinds[known.first->second];

		kind.times += rows[0].bytes / kind.rows[0].bytes;
	}
	return kinds;
}

static std::vector<Flow> flows_of(Network &net, const Kind &kind)
{
	std::vector<Flow> flows;
	Expander expander(net, flows);
	std::set<std::vector<const Gpu *>> done;

	for (const Row &row : kind.rows) {
		// a collective over stages has a row for each of them
		if (row.collective == "send_recv" ||
		    done.insert(row.gpus).second)
			expander.row(row, row.bytes);
	}
	return flows;
}

// ---- one job ----

struct Options {
	std::string axis;
	unsigned paths = 1, seed = 1, bursts = 200;
	std::vector<double> duty;
	bool loads = false;
	const char *platform = nullptr;
	std::vector<const char *> calls;
};

using Stages = std::map<unsigned, double>;

// Rows of a collective over stages count for each of the stages.
static void stages_add(Stages &sum, const Kind &kind, const Stages &last)
{
	std::map<std::vector<const Gpu *>, unsigned> first;
	Stages own;

	for (const Row &row : kind.rows) {
		unsigned stage = row.stage;

		if (row.collective != "send_recv")
			stage = first.emplace(row.gpus, stage).first->second;
		auto found = last.find(stage);

		if (found != last.end())
			own[row.stage] =
				std::max(own[row.stage], found->second);
	}
	for (const auto &s : own)
		sum[s.first] += kind.times * s.second;
}

static void axes_print(const std::map<std::string, Stages> &axes)
{
	const char *sep = "";

	printf("\"axes\": {");
	for (const auto &a : axes) {
		auto most = a.second.begin();

		for (auto s = most; s != a.second.end(); ++s)
			if (s->second > most->second * (1 + 1e-9))
				most = s;
		printf("%s\"%s\": {\"time_s\": %.9g, \"stage\": %u}", sep,
		       a.first.c_str(), most->second, most->first);
		sep = ", ";
	}
	printf("}");
}

static void alone_run(Network &net, const Options &o)
{
	std::vector<Kind> kinds = calls_read(net, o.calls[0], o.axis);
	std::map<std::string, Stages> axes;
	Port port = net.port(0);

	net.seal();
	s4u::Actor::create("job", port[0], [&]() {
		for (const Kind &kind : kinds) {
			std::vector<Flow> flows = flows_of(net, kind);

			if (flows.empty())
				continue;
			double full = fullest_s(flows);
			Stages last = flows_run(net.zone, port, flows,
						PHASE_S / full);
			Stages &sum = axes[kind.axis];

			stages_add(sum, kind, last);
			if (o.loads)
				fprintf(stderr,
					"%s %s: %zu flows, fullest link %g s\n",
					kind.axis.c_str(),
					kind.rows[0].collective.c_str(),
					flows.size(), full * kind.times);
		}
	});
	s4u::Engine::get_instance()->run();
	printf("{");
	axes_print(axes);
	printf("}\n");
}

// ---- several jobs ----

struct Job {
	Port port;
	std::vector<std::vector<Flow>> calls;
	double duty, alone_s = 0, sent_s = 0;
	unsigned n = 0;
};

static void burst(Network &net, const Job &job, double scale)
{
	for (const auto &flows : job.calls)
		flows_run(net.zone, job.port, flows, scale);
}

static void jobs_run(Network &net, const Options &o)
{
	std::vector<Job> jobs(o.calls.size());
	double scale = 1, longest = 0;

	for (size_t k = 0; k < jobs.size(); k++) {
		jobs[k].port = net.port((unsigned)k);
		jobs[k].duty = o.duty[k];
	}
	net.seal();
	for (size_t k = 0; k < jobs.size(); k++) {
		for (Kind &kind : calls_read(net, o.calls[k], o.axis)) {
			for (Row &row : kind.rows)
				row.bytes *= kind.times;
			jobs[k].calls.push_back(flows_of(net, kind));
			longest = std::max(longest,
					   fullest_s(jobs[k].calls.back()));
		}
	}
	scale = PHASE_S / longest;
	s4u::Actor::create("jobs", jobs[0].port[0], [&]() {
		double end, period = 0;

		for (Job &job : jobs) {
			double start = s4u::Engine::get_clock();

			burst(net, job, scale);
			job.alone_s = s4u::Engine::get_clock() - start;
			period = std::max(period, job.alone_s / job.duty);
		}
		end = s4u::Engine::get_clock() + o.bursts * period;
		for (size_t k = 0; k < jobs.size(); k++) {
			Job &job = jobs[k];

			s4u::Actor::create("job", job.port[0], [&, k, end]() {
				std::mt19937 random(o.seed * 31 + (unsigned)k);
				std::uniform_real_distribution<double> any(0, 1);
				double gap = job.alone_s * (1 / job.duty - 1);

				s4u::this_actor::sleep_for(
					any(random) * job.alone_s / job.duty);
				while (s4u::Engine::get_clock() < end) {
					double t = s4u::Engine::get_clock();

					burst(net, job, scale);
					job.sent_s +=
						s4u::Engine::get_clock() - t;
					job.n++;
					if (gap > 0)
						s4u::this_actor::sleep_for(
							gap * (0.8 +
							       0.4 *
							       any(random)));
				}
			});
		}
	});
	s4u::Engine::get_instance()->run();
	printf("{\"jobs\": [");
	for (size_t k = 0; k < jobs.size(); k++)
		printf("%s{\"alone_s\": %.9g, \"slowdown\": %.6g, "
		       "\"bursts\": %u}",
		       k ? ", " : "", jobs[k].alone_s / scale,
		       jobs[k].sent_s / jobs[k].n / jobs[k].alone_s, jobs[k].n);
	printf("]}\n");
}

static Options options_read(int argc, char **argv)
{
	Options o;

	for (int i = 1; i < argc; i++) {
		std::string word = argv[i];
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (word.substr(0, 2) != "--") {
			if (o.platform)
				o.calls.push_back(argv[i]);
			else
				o.platform = argv[i];
			continue;
		}
		if (word == "--loads") {
			o.loads = true;
			continue;
		}
		i++;
		if (word == "--axis") {
			o.axis = value;
		} else if (word == "--paths") {
			o.paths = (unsigned)std::stoul(value);
		} else if (word == "--seed") {
			o.seed = (unsigned)std::stoul(value);
		} else if (word == "--bursts") {
			o.bursts = (unsigned)std::stoul(value);
		} else if (word == "--duty") {
			std::istringstream in(value);

			for (double d; in >> d; in.ignore())
				o.duty.push_back(d);
		} else {
			die("no option " + word);
		}
	}
	if (o.calls.empty())
		die("which PLATFORM and CALLS?");
	if (o.calls.size() > 1 && o.duty.size() != o.calls.size())
		die("--duty needs a number for each job");
	return o;
}

int main(int argc, char **argv)
{
	static const char *const settings[] = {
		"network/model:CM02",	    "network/crosstraffic:0",
		"network/TCP-gamma:0",	    "network/bandwidth-factor:1.0",
		"network/latency-factor:1", "contexts/stack-size:256",
		"surf/precision:1e-5",
	};
	Options o = options_read(argc, argv);
	char quiet[] = "--log=root.thresh:error";
	char *words[] = {argv[0], quiet, nullptr};
	int n = 2;

	s4u::Engine engine(&n, words);
	for (const char *setting : settings)
		engine.set_config(setting);
	Network net(o.platform, o.paths, o.seed);
	if (o.calls.size() > 1)
		jobs_run(net, o);
	else
		alone_run(net, o);
	return 0;
}
