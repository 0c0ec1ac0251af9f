/**
 * `pnpm bench:against <commit> [W1 W2 …] [--scale=0.5] [--rounds=20] [--within=5] [--json]`: the working tree beside another
 * commit, on the embedded store, or on `dbhost` as `bench:growth` takes it.
 *
 * A round starts a new server of each build, because two processes of one build differ, too. Each workload warms both up, and
 * then measures them in the order tree, commit, commit, tree, so that a change of the machine's speed affects both. Rounds go on
 * until the 95 % interval of each throughput and CPU time is within 5 %, or to the last round. Equal builds show a ratio of 1
 * within the interval: `pnpm bench:against HEAD` tries that.
 */
import { parseArgs } from 'node:util';
import { BenchServer, type BenchServerOptions } from './bench-server.ts';
import { openGrowthDatabase } from './growth-database.ts';
import { medianOf } from './measure.ts';
import { buildOf, type OtherBuild } from './other-build.ts';
import { ratioSpread, type RatioSpread } from './ratio-spread.ts';
import { workloadNamed, WORKLOADS, type Numbers, type Workload } from './workloads.ts';

type Build = 'tree' | 'commit';
type Measured = Readonly<Record<Build, readonly number[]>>;

const BUILDS: readonly Build[] = ['tree', 'commit'];
const ORDER: readonly Build[] = ['tree', 'commit', 'commit', 'tree'];
const WARM_UP_SCALE = 0.2;
const ROUNDS_MIN = 4;
/** What a change must not make worse. Latencies and memory vary more, and are printed only. */
const DECISIVE = ['perSecond', 'startsPerSecond', 'wakesPerSecond', 'cpuMsEach'];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '0.5' },
    rounds: { type: 'string', default: '20' },
    within: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const [revision, ...names] = positionals;
if (revision === undefined) throw new Error('Name the commit to compare with');
const scale = Number(values.scale);
const rounds = Number(values.rounds);
const within = 1 + Number(values.within) / 100;
const workloads =
  names.length > 0 ? names.map(workloadNamed) : WORKLOADS.filter(({ name }) => name <= 'W6');
const other = buildOf(revision);
const database = process.env['dbhost'] === undefined ? null : await openGrowthDatabase();
/** By workload and number, such as `W2 perSecond`: one value of each build for each round. */
const measured = new Map<string, Measured>();

for (let round = 1; round <= rounds; round += 1) {
  await measureRound(round);
  const loose = [...measured].filter(([key, all]) => isLoose(key, all));
  if (!values.json) {
    console.log(`round ${round}: ${loose.length} of ${measured.size} figures aren't decided`);
  }
  if (round >= ROUNDS_MIN && loose.length === 0) break;
}
await database?.close();
if (values.json) console.log(JSON.stringify(asObject(), null, 2));
else printTable(other);

async function measureRound(round: number): Promise<void> {
  const servers = new Map<Build, BenchServer>();
  const inOrder = round % 2 === 1 ? BUILDS : BUILDS.toReversed();
  try {
    for (const build of inOrder) servers.set(build, await BenchServer.start(optionsOf(build)));
    for (const workload of workloads) await measure(workload, servers);
  } finally {
    for (const server of servers.values()) await server.stop();
    for (const build of servers.keys()) await database?.remove(dataNameOf(build));
  }
}

function optionsOf(build: Build): BenchServerOptions {
  return {
    settings: database?.environmentOf(dataNameOf(build)) ?? {},
    main: build === 'commit' ? other.main : undefined,
  };
}

function dataNameOf(build: Build): string {
  return `bench_against_${process.pid}_${build}`;
}

async function measure(
  workload: Workload,
  servers: ReadonlyMap<Build, BenchServer>,
): Promise<void> {
  for (const server of servers.values()) await workload.run(server, scale * WARM_UP_SCALE);
  const found: Record<Build, Numbers[]> = { tree: [], commit: [] };
  for (const build of ORDER) {
    const server = servers.get(build);
    if (server === undefined) throw new RangeError(`There is no server of the ${build}`);
    found[build].push(await workload.run(server, scale));
  }
  for (const name of Object.keys(found.tree[0] ?? {})) {
    const key = `${workload.name} ${name}`;
    const tree = meanOf(found.tree, name);
    const commit = meanOf(found.commit, name);
    const all = measured.get(key) ?? { tree: [], commit: [] };
    measured.set(key, { tree: [...all.tree, tree], commit: [...all.commit, commit] });
  }
}

function meanOf(all: readonly Numbers[], name: string): number {
  return all.reduce((sum, numbers) => sum + (numbers[name] ?? Number.NaN), 0) / all.length;
}

function isLoose(key: string, all: Measured): boolean {
  if (!DECISIVE.some((name) => key.endsWith(` ${name}`))) return false;
  return (spreadOf(all)?.factor ?? 1) > within;
}

function spreadOf({ commit, tree }: Measured): RatioSpread | null {
  return ratioSpread(tree.map((value, round) => value / (commit[round] ?? Number.NaN)));
}

function asObject(): Readonly<Record<string, object>> {
  const rows = [...measured].map(([key, all]) => {
    const { commit, tree } = all;
    return [key, { tree: medianOf(tree), commit: medianOf(commit), ...spreadOf(all) }] as const;
  });
  return Object.fromEntries(rows);
}

function printTable({ commit, subject }: OtherBuild): void {
  console.log(
    `\nThe tree beside ${commit} (${subject}); medians, and the ratio with its 95 % interval`,
  );
  for (const [key, all] of measured) {
    const cells = [all.tree, all.commit].map((each) => medianOf(each).toFixed(3).padStart(12));
    const { factor = NaN, ratio = NaN } = spreadOf(all) ?? {};
    const interval = `${(ratio / factor).toFixed(3)} to ${(ratio * factor).toFixed(3)}`;
    const isTold = ratio / factor > 1 || ratio * factor < 1;
    const note = isTold ? '' : '  no difference shown';
    console.log(`${key.padEnd(26)}${cells.join('')}  ${ratio.toFixed(3)}  (${interval})${note}`);
  }
}
