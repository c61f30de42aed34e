/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rank.cc - one rank of a training job that only communicates
 *
 * Runs the calls of a step with Gloo over one network interface, axis after
 * axis, and measures how long each axis takes: from the moment the first rank
 * begins until the last one has finished.  All groups of an axis run at once.
 *
 *	rank [--interface IF] --store DIR --step FILE
 *	     [--rank R --size N] [--repeat K]
 *
 * The step file holds lines; "#" starts a comment:
 *
 *	axis NAME
 *	COLLECTIVE BYTES COUNT GROUP...
 *
 * A COLLECTIVE (all_reduce, all_gather, reduce_scatter, all_to_all) runs COUNT
 * times in each GROUP, a list of ranks such as 0,2,4.  BYTES is the size as
 * costmodel/traffic/collective.h defines it.  The groups of send_recv are pairs FROM>TO
 * and BYTES is one message.
 *
 * All-reduces are Gloo's.  It has no ring reduce-scatter, and its all-gather
 * and all-to-all permit the peer to send only behind their own data on the same
 * connection, so that both directions wait for each other (two ranks on a link
 * of 40 Mbit/s: 35 ms for 28 ms of bytes).  These three are built from its
 * buffers, receives first, as NCCL grants credits ahead: a sender has at most
 * two slices under way to each receiver.  Rings are in rank order.
 *
 * DIR is a folder that all ranks share, empty at the start.  With --repeat 0
 * the ranks write DIR/ready, wait until DIR/go exists and repeat the step until
 * DIR/stop does, which holds the time of day in seconds; of several steps one
 * that ends later is not reported.  Without --rank and --size both come from
 * the environment that Slurm or torch sets.
 *
 * Rank 0 prints one JSON object: ranks, steps, axis_s (axis -> seconds, the
 * median over the steps), step_s, their sum, and mean_s, the mean step.
 */
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace
{

using gloo::transport::UnboundBuffer;
using Context = std::shared_ptr<gloo::rendezvous::Context>;

constexpr auto patience = std::chrono::seconds(120);
constexpr uint64_t ring_slot = 1, pair_slot = 2;
/* Messages travel in slices of one size, as NCCL's do, so that flows of different
 * lengths hold the same number of bytes in a queue that they share. */
constexpr size_t slice_bytes = 65536;

struct Options {
	std::string interface, store, step;
	int rank = -1, size = -1, repeat = 3;
};

/* A call of this rank: in the group of `context`, or, for sends, to and from
 * other ranks. */
struct Call {
	std::string collective;
	size_t n_bytes = 0;
	int count = 0;
	Context context;
	std::vector<int> to, from;
};

struct Axis {
	std::string name;
	std::vector<Call> calls;
};

struct Span {
	double begin_s, end_s;
};

double now_s()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<double>(t.tv_sec) +
	       static_cast<double>(t.tv_nsec) * 1e-9;
}

[[noreturn]] void fail(const std::string &why)
{
	throw std::runtime_error(why);
}

bool exists(const std::string &path)
{
	return access(path.c_str(), F_OK) == 0;
}

/* One rank of a job: its connections, memory and calls. */
class Rank
{
      public:
	explicit Rank(const Options &o);
	void run();

      private:
	const Options options;
	std::shared_ptr<gloo::transport::Device> device;
	Context world;
	std::map<std::string, Context> groups;
	std::vector<Axis> axes;
	std::vector<float> memory, incoming;
	std::vector<Span> spans;

	Context join(const std::string &name, int rank, int size);
	void read_step();
	void read_call(const std::string &word, std::istringstream &line);
	void add_pair(Call &call, const std::string &pair);
	bool add_group(Call &call, const std::string &group);
	void call_once(const Call &call);
	void all_reduce(const Call &call);
	void ring(const Call &call, int turn, bool add);
	void all_gather(const Call &call);
	void all_to_all(const Call &call);
	void reduce_scatter(const Call &call);
	void send_recv(const Call &call);
	void step();
	bool again(int done);
	std::vector<Span> gather();
	double stopped_s();
	void report(const std::vector<Span> &joint, double stop_s);
	void start_together();
};

Rank::Rank(const Options &o) : options(o)
{
	gloo::transport::tcp::attr attr;

	attr.iface = o.interface;
	attr.ai_family = AF_INET;
	device = gloo::transport::tcp::CreateDevice(attr);
	world = join("world", o.rank, o.size);
	read_step();
}

Context Rank::join(const std::string &name, int rank, int size)
{
	auto files =
		std::make_shared<gloo::rendezvous::FileStore>(options.store);
	gloo::rendezvous::PrefixStore store(name, *files);
	auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);

	context->setTimeout(patience);
	context->connectFullMesh(store, device);
	return context;
}

/* ---- the step ---- */

void Rank::add_pair(Call &call, const std::string &pair)
{
	int from, to;

	if (sscanf(pair.c_str(), "%d>%d", &from, &to) != 2)
		fail("not a pair FROM>TO: " + pair);
	if (from == options.rank)
		call.to.push_back(to);
	if (to == options.rank)
		call.from.push_back(from);
}

/* Whether this rank is in the group; connects it where it is new. */
bool Rank::add_group(Call &call, const std::string &group)
{
	std::istringstream words(group);
	std::string word;
	std::vector<int> ranks;

	while (std::getline(words, word, ','))
		ranks.push_back(std::stoi(word));
	auto self = std::find(ranks.begin(), ranks.end(), options.rank);
	if (self == ranks.end())
		return false;
	auto &context = groups[group];
	if (!context)
		context = join(group, static_cast<int>(self - ranks.begin()),
			       static_cast<int>(ranks.size()));
	call.context = context;
	return true;
}

void Rank::read_call(const std::string &word, std::istringstream &line)
{
	Call call;
	double n_bytes, count;
	std::string group;
	bool mine = false;

	call.collective = word;
	if (axes.empty() || !(line >> n_bytes >> count))
		fail("not a call: " + word);
	call.n_bytes = static_cast<size_t>(std::llround(n_bytes));
	call.count = static_cast<int>(std::lround(count));
	while (line >> group) {
		if (word != "send_recv")
			mine = add_group(call, group) || mine;
		else
			add_pair(call, group);
	}
	if (mine || !call.to.empty() || !call.from.empty())
		axes.back().calls.push_back(call);
	/* Room to round a size up to whole elements of each rank. */
	memory.resize(std::max(memory.size(),
			       call.n_bytes / sizeof(float) +
				       2 * static_cast<size_t>(options.size)));
}

void Rank::read_step()
{
	std::ifstream file(options.step);
	std::string text, word;

	if (!file)
		fail("cannot read " + options.step);
	while (std::getline(file, text)) {
		std::istringstream line(text.substr(0, text.find('#')));

		if (!(line >> word))
			continue;
		if (word != "axis") {
			read_call(word, line);
			continue;
		}
		line >> word;
		axes.push_back({word, {}});
	}
	incoming.resize(memory.size());
}

/* ---- collectives ---- */

/* Elements of one rank's part of a size, rounded up. */
size_t part(const Call &call)
{
	size_t n = static_cast<size_t>(call.context->size);

	return (call.n_bytes / sizeof(float) + n - 1) / n;
}

void Rank::all_reduce(const Call &call)
{
	gloo::AllreduceOptions o(call.context);

	o.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
	o.setOutput(memory.data(), call.n_bytes / sizeof(float));
	o.setMaxSegmentSize(slice_bytes);
	o.setReduceFunction(
		static_cast<void (*)(void *, const void *, const void *,
				     size_t)>(&gloo::sum<float>));
	gloo::allreduce(o);
}

/* Parts travel in slices, two of which are under way at any time.  `turn` is
 * the part that rank 0 sends first. */
void Rank::ring(const Call &call, int turn, bool add)
{
	const int n = call.context->size, self = call.context->rank;
	const size_t whole = part(call);
	const size_t k = std::max<size_t>(
		2, (whole * sizeof(float) + slice_bytes - 1) / slice_bytes);
	const size_t slice = (whole + k - 1) / k;
	const size_t n_slices = k * static_cast<size_t>(n - 1);
	auto out = call.context->createUnboundBuffer(
		memory.data(), whole * static_cast<size_t>(n) * sizeof(float));
	std::unique_ptr<UnboundBuffer> in[2];
	/* Elements of the i-th slice; where it begins, `hop` parts back. */
	auto length = [&](size_t i) {
		return std::min(slice, whole - std::min(whole, i % k * slice));
	};
	auto at = [&](size_t i, int hop) {
		int p = self + turn - hop - static_cast<int>(i / k);

		return static_cast<size_t>((p % n + n) % n) * whole +
		       std::min(whole, i % k * slice);
	};
	auto finish = [&](size_t i) {
		float *own = memory.data() + at(i, 1);

		in[i & 1]->waitRecv(patience);
		if (add)
			gloo::sum<float>(own, own, in[i & 1]->ptr, length(i));
		else
			memcpy(own, in[i & 1]->ptr, length(i) * sizeof(float));
		out->waitSend(patience);
	};

	for (size_t i = 0; i < 2; i++)
		in[i] = call.context->createUnboundBuffer(
			incoming.data() + i * slice, slice * sizeof(float));
	for (size_t i = 0; i < n_slices; i++) {
		if (i >= 2)
			finish(i - 2);
		in[i & 1]->recv((self + n - 1) % n, ring_slot, 0,
				length(i) * sizeof(float));
		out->send((self + 1) % n, ring_slot, at(i, 0) * sizeof(float),
			  length(i) * sizeof(float));
	}
	finish(n_slices - 2);
	finish(n_slices - 1);
}

void Rank::all_gather(const Call &call)
{
	ring(call, 0, false);
}

void Rank::reduce_scatter(const Call &call)
{
	ring(call, -1, true);
}

/* Slices of rings, two of which are under way from each rank to each. */
void Rank::all_to_all(const Call &call)
{
	const int n = call.context->size, self = call.context->rank;
	const size_t n_bytes = part(call) * sizeof(float);
	const size_t k = (n_bytes + slice_bytes - 1) / slice_bytes;
	std::vector<size_t> asked(static_cast<size_t>(n), 0);
	auto out = call.context->createUnboundBuffer(
		memory.data(), n_bytes * static_cast<size_t>(n));
	auto in = call.context->createUnboundBuffer(
		incoming.data(), n_bytes * static_cast<size_t>(n));
	auto length = [&](size_t i) {
		return std::min(slice_bytes, n_bytes - i * slice_bytes);
	};
	auto at = [&](int rank, size_t i) {
		return static_cast<size_t>(rank) * n_bytes + i * slice_bytes;
	};
	auto ask = [&](int from) {
		size_t i = asked[static_cast<size_t>(from)]++;

		if (i < k)
			in->recv(from, pair_slot, at(from, i), length(i));
	};

	for (int i = 1; i < n; i++) {
		ask((self + n - i) % n);
		ask((self + n - i) % n);
	}
	for (size_t s = 0; s < k; s++)
		for (int i = 1; i < n; i++) {
			int to = (self + i) % n;

			out->send(to, pair_slot, at(to, s), length(s));
		}
	for (size_t s = 0; s < k * static_cast<size_t>(n - 1); s++) {
		int from;

		in->waitRecv(&from, patience);
		ask(from);
		out->waitSend(patience);
	}
}

void Rank::send_recv(const Call &call)
{
	auto out = world->createUnboundBuffer(memory.data(), call.n_bytes);
	auto in = world->createUnboundBuffer(incoming.data(), call.n_bytes);

	for (int peer : call.from)
		in->recv(peer, pair_slot);
	for (int peer : call.to)
		out->send(peer, pair_slot);
	for (size_t i = 0; i < call.from.size(); i++)
		in->waitRecv(patience);
	for (size_t i = 0; i < call.to.size(); i++)
		out->waitSend(patience);
}

void Rank::call_once(const Call &call)
{
	static const std::map<std::string, void (Rank::*)(const Call &)> by = {
		{"all_reduce", &Rank::all_reduce},
		{"all_gather", &Rank::all_gather},
		{"reduce_scatter", &Rank::reduce_scatter},
		{"all_to_all", &Rank::all_to_all},
		{"send_recv", &Rank::send_recv},
	};
	auto found = by.find(call.collective);

	if (found == by.end())
		fail("no collective " + call.collective);
	(this->*found->second)(call);
}

/* ---- the run ---- */

void Rank::step()
{
	gloo::BarrierOptions together(world);

	for (const auto &axis : axes) {
		Span span;

		gloo::barrier(together);
		span.begin_s = now_s();
		for (const auto &call : axis.calls)
			for (int i = 0; i < call.count; i++)
				call_once(call);
		span.end_s = now_s();
		spans.push_back(span);
	}
	gloo::barrier(together);
}

/* Rank 0 decides. */
bool Rank::again(int done)
{
	int go_on = 0;
	gloo::BroadcastOptions o(world);

	if (options.rank == 0)
		go_on = options.repeat > 0 ? done < options.repeat
					   : !exists(options.store + "/stop");
	o.setRoot(0);
	o.setOutput(&go_on, 1);
	gloo::broadcast(o);
	return go_on;
}

/* Of each axis of each step, from when the first rank began it until the last
 * one had finished, and when that was. */
std::vector<Span> Rank::gather()
{
	const size_t n = spans.size();
	std::vector<double> own, all(2 * n * static_cast<size_t>(world->size));
	std::vector<Span> joint(n, {INFINITY, 0});
	gloo::AllgatherOptions o(world);

	for (const Span &span : spans) {
		own.push_back(span.begin_s);
		own.push_back(span.end_s);
	}
	o.setInput(own.data(), own.size());
	o.setOutput(all.data(), all.size());
	gloo::allgather(o);
	for (size_t i = 0; i < all.size() / 2; i++) {
		Span &span = joint[i % n];

		span.begin_s = std::min(span.begin_s, all[2 * i]);
		span.end_s = std::max(span.end_s, all[2 * i + 1]);
	}
	return joint;
}

/* When DIR/stop was written: it holds the time of day. */
double Rank::stopped_s()
{
	std::ifstream stop(options.store + "/stop");
	struct timespec t;
	double written_s;

	if (options.repeat > 0 || !(stop >> written_s))
		return INFINITY;
	clock_gettime(CLOCK_REALTIME, &t);
	return now_s() - (static_cast<double>(t.tv_sec) +
			  static_cast<double>(t.tv_nsec) * 1e-9 - written_s);
}

/* The figures with the least of the machine's own disturbances. */
double median(std::vector<double> all)
{
	const size_t n = all.size();

	std::sort(all.begin(), all.end());
	return (all[(n - 1) / 2] + all[n / 2]) / 2;
}

void Rank::report(const std::vector<Span> &joint, double stop_s)
{
	const size_t n_axes = axes.size();
	std::vector<std::vector<double>> took_s(n_axes);
	double step_s = 0, sum_s = 0;

	for (size_t s = 0; s + n_axes <= joint.size(); s += n_axes) {
		if (joint[s + n_axes - 1].end_s > stop_s && s > 0)
			break;
		for (size_t a = 0; a < n_axes; a++)
			took_s[a].push_back(joint[s + a].end_s -
					    joint[s + a].begin_s);
	}
	printf("{\"ranks\":%d,\"steps\":%zu,\"axis_s\":{", world->size,
	       took_s[0].size());
	for (size_t a = 0; a < n_axes; a++) {
		printf("%s\"%s\":%.6f", a ? "," : "", axes[a].name.c_str(),
		       median(took_s[a]));
		step_s += median(took_s[a]);
		sum_s += std::accumulate(took_s[a].begin(), took_s[a].end(),
					 0.0);
	}
	printf("},\"step_s\":%.6f,\"mean_s\":%.6f}\n", step_s,
	       sum_s / static_cast<double>(took_s[0].size()));
	fflush(stdout);
}

/* Rank 0 tells the launcher that all are connected; all wait for its go. */
void Rank::start_together()
{
	if (options.rank == 0)
		std::ofstream(options.store + "/ready") << "ready\n";
	for (int i = 0; !exists(options.store + "/go"); i++) {
		if (i > 12000)
			fail("no " + options.store + "/go after two minutes");
		usleep(10000);
	}
}

void Rank::run()
{
	gloo::BarrierOptions together(world);
	int done = 0;

	step(); /* connects all pairs */
	spans.clear();
	if (options.repeat == 0)
		start_together();
	while (again(done)) {
		step();
		done++;
	}
	if (!spans.empty()) {
		auto joint = gather();

		if (options.rank == 0)
			report(joint, stopped_s());
	}
	gloo::barrier(together);
}

/* ---- the command line ---- */

int from_environment(const char *a, const char *b)
{
	const char *text = getenv(a) ? getenv(a) : getenv(b);

	return text ? atoi(text) : -1;
}

Options parse(int argc, char **argv)
{
	Options o;
	std::map<std::string, std::string> given;

	for (int i = 1; i + 1 < argc; i += 2)
		given[argv[i]] = argv[i + 1];
	o.interface =
		given.count("--interface") ? given["--interface"] : "eth0";
	o.store = given["--store"];
	o.step = given["--step"];
	o.rank = given.count("--rank")
			 ? atoi(given["--rank"].c_str())
			 : from_environment("SLURM_PROCID", "RANK");
	o.size = given.count("--size")
			 ? atoi(given["--size"].c_str())
			 : from_environment("SLURM_NTASKS", "WORLD_SIZE");
	if (given.count("--repeat"))
		o.repeat = atoi(given["--repeat"].c_str());
	if (o.store.empty() || o.step.empty() || o.size < 2 || o.rank < 0 ||
	    o.rank >= o.size)
		fail("usage: rank [--interface IF] --store DIR --step FILE "
		     "[--rank R --size N] [--repeat K]");
	return o;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Rank rank(parse(argc, argv));

		rank.run();
	} catch (const std::exception &e) {
		fprintf(stderr, "rank: %s\n", e.what());
		return 1;
	}
	return 0;
}
