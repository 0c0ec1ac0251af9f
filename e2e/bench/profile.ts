/** Shows how the threads of the server spend their time: flame graphs, and shares by part of the program. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CpuProfile, type Frame, type Span } from './cpu-profile.ts';
import { drawFlames } from './flame-graph.ts';

/** By the file of a function; native functions count to their caller. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/^node:.*(timer|task_queues|immediate)/, 'timers and tasks of Node'],
  [/^node:.*(worker|event_target|serdes|messag)/, 'messages between the threads'],
  [/^store\/sqlite\/database-thread/, 'messages between the threads'],
  [/^node:.*(url|querystring)/, 'HTTP in Node'],
  [/^node:.*(http|net|stream|events|async|buffer)/, 'HTTP in Node'],
  [/^node:/, 'Node, everything else'],
  [/^node_modules\/(express|router|finalhandler|parseurl|path-to-regexp)/, 'Express'],
  [/^node_modules\/@tsoa/, 'tsoa'],
  [/^generated\//, 'tsoa'],
  [/^node_modules/, 'other packages'],
];

const SHOWN_FUNCTIONS = 12;

/**
 * Writes `<folder>/<workload>.svg` for each workload.
 *
 * @param profiles the folder to which the server wrote its profiles when it ended
 */
export function writeProfiles(
  profiles: string,
  spans: Readonly<Record<string, Span>>,
  folder: string,
): void {
  mkdirSync(folder, { recursive: true });
  const threads = readdirSync(profiles).map((name) => new CpuProfile(path.join(profiles, name)));
  const [store] = threads.filter((thread) => thread.runs('store/sqlite/worker.js'));
  const [main] = threads.filter((thread) => thread.runs('dist/main.js'));
  if (main === undefined) throw new Error('the server wrote no profile of its main thread');
  for (const [name, span] of Object.entries(spans)) {
    const flames = [{ title: `${name}, main thread`, root: main.during(span) }];
    if (store !== undefined) {
      flames.push({ title: `${name}, thread of the store`, root: store.during(span) });
    }
    const file = path.join(folder, `${name.toLowerCase()}.svg`);
    writeFileSync(file, drawFlames(flames));
    for (const { root, title } of flames) show(title, root);
    console.log(`  written to ${file}`);
  }
}

function show(title: string, root: Frame): void {
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  addSelf(root, '', { parts, functions });
  console.log(`\n${title}: ${root.totalMs.toFixed(0)} ms busy`);
  for (const [name, ms] of largest(parts)) console.log(`  ${percent(ms, root)} ${name}`);
  console.log('  by function:');
  for (const [name, ms] of largest(functions).slice(0, SHOWN_FUNCTIONS)) {
    console.log(`  ${percent(ms, root)} ${name}`);
  }
}

interface Sums {
  readonly parts: Map<string, number>;
  readonly functions: Map<string, number>;
}

function addSelf(frame: Frame, part: string, sums: Sums): void {
  const own = partOf(frame, part);
  const name = `${frame.name} ${frame.place}`;
  sums.parts.set(own, (sums.parts.get(own) ?? 0) + frame.selfMs);
  sums.functions.set(name, (sums.functions.get(name) ?? 0) + frame.selfMs);
  for (const child of frame.children.values()) addSelf(child, own, sums);
}

function partOf({ name, place }: Frame, caller: string): string {
  if (name === '(garbage collector)') return 'garbage collection';
  if (name === '(program)') return 'native code outside any function';
  if (place === '') return caller;
  const known = PARTS.find(([pattern]) => pattern.test(place))?.[1];
  // For the project: its first folder, which is a room of ARCHITECTURE.md.
  return known ?? `${place.split('/')[0] ?? place}, ours`;
}

function largest(sums: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...sums].sort(([, a], [, b]) => b - a).filter(([, ms]) => ms > 0);
}

function percent(ms: number, { totalMs }: Frame): string {
  return `${((ms / totalMs) * 100).toFixed(1).padStart(5)}%`;
}
