/** Looks at a page with axe. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE_FILE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** What axe finds that is serious, one line each. */
export async function seriousProblems(page: Page): Promise<string[]> {
  // What fades in has too little contrast until it is there, and may begin to at any time; without motion nothing fades.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
  // Evaluated by the tool of the tests, which the page's policy does not concern.
  await page.evaluate(readFileSync(AXE_FILE, 'utf8'));
  const results = await page.evaluate<AxeResults>('axe.run(document)');
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
    );
}
