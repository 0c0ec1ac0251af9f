/** The parts of the documentation that benchmarks use as their readers would. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fencedBlocks, hasWords } from '../../examples/test/support/fenced-blocks.ts';

/**
 * The first fenced block with these words after its fence.
 *
 * @param document its path from the root of the repository
 * @throws Error if there is none
 */
export function documentBlock(document: string, ...words: readonly string[]): string {
  const file = fileURLToPath(new URL(`../../${document}`, import.meta.url));
  const found = fencedBlocks(readFileSync(file, 'utf8')).find((block) => hasWords(block, ...words));
  if (found === undefined) throw new Error(`${document} has no block '${words.join(' ')}'`);
  return found.text;
}
