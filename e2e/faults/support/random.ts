/** Random numbers that a seed reproduces; the seed of a run is printed and can be set with FAULTS_SEED. */

import { seeded, type Random } from '../../../server/test/support/seeded.ts';

export { seeded, type Random };

export function chosen<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('the list is empty');
  return item;
}

export function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/** The seed of this run, printed so that a failure can be reproduced. */
export function runSeed(): number {
  const seed = Number(process.env['FAULTS_SEED'] ?? Date.now() % 1_000_000);
  console.log(`FAULTS_SEED=${seed}`);
  return seed;
}

/** Sizes of the tests are small by default; FAULTS_SCALE multiplies them. */
export function scaled(size: number): number {
  return Math.max(1, Math.round(size * Number(process.env['FAULTS_SCALE'] ?? 1)));
}
