/** Goal: `pnpm test:safeguards` still finds what it removes. Method: applies each patch to the text of the built server. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { patched, SAFEGUARDS } from './support/safeguards.ts';

const DIST = fileURLToPath(new URL('../../server/dist', import.meta.url));

describe('the safeguards', () => {
  it.each(SAFEGUARDS)('includes one that its patches remove: $name', ({ patches }) => {
    for (const patch of patches) expect(patched(patch, DIST)).toContain(patch.replace);
  });
});
