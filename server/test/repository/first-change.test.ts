/** Goal: the patches of "Your first change in five minutes" apply. By night, the whole walk is timed (`examples/test`). */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ROOT, textOf } from './tracked-files.js';

const PATCHES = [
  ...textOf('CONTRIBUTING.md').matchAll(/^```diff first-change\n(?<patch>.*?)^```$/gms),
];

describe('the first change of CONTRIBUTING.md', () => {
  it('has two patches that apply', () => {
    expect(PATCHES).toHaveLength(2);
    for (const { groups } of PATCHES) {
      const options = { cwd: ROOT, input: groups!['patch']!, encoding: 'utf8' } as const;
      const { status, stderr } = spawnSync('git', ['apply', '-p0', '--check', '-'], options);
      expect(status, stderr).toBe(0);
    }
  });
});
