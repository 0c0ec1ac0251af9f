/** Looks at a page with axe. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

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
  // One whose element goes away never finishes.
  await page.evaluate(async () => {
    await Promise.allSettled(document.getAnimations().map((one) => one.finished));
  });
  // Evaluated by the tool of the tests, which the page's policy does not concern.
  await page.evaluate(readFileSync(AXE_FILE, 'utf8'));
  const results = await page.evaluate<AxeResults>('axe.run(document)');
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
    );
}
