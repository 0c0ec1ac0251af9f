/**
 * Goal: V8's memory for new objects stays small; it would be 128 MB otherwise.
 * Method: a process that creates far more objects than fit, and keeps them for a while.
 */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const SOURCE = new URL('../src/limit-young-generation.ts', import.meta.url).href;

const program = (isLimited: boolean): string => `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { limitYoungGeneration } from ${JSON.stringify(SOURCE)};
  if (${isLimited}) limitYoungGeneration();
  const held = [];
  for (let n = 0; n < 600_000; n += 1) {
    held.push({ n, text: [n, n + 1, n + 2, n + 3] });
    if (held.length > 200_000) held.length = 0;
  }
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  console.log(space.space_size);`;

function newSpaceBytes(isLimited: boolean): number {
  const args = ['--no-warnings', '--input-type=module', '--eval', program(isLimited)];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

describe('limitYoungGeneration', () => {
  it('keeps the memory for new objects at its current size', () => {
    expect(newSpaceBytes(true)).toBeLessThanOrEqual(8 << 20);
  });

  it('is needed, because the memory would grow otherwise', () => {
    expect(newSpaceBytes(false)).toBeGreaterThan(8 << 20);
  });
});
