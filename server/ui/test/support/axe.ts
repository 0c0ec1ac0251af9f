/** Checks a page with axe. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

// React Aria tells screen readers for some seconds about a button that may be gone by then.
const SCOPE = { exclude: [['[data-live-announcer]']] };
const AXE_FILE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** The serious problems that axe finds, one per line. */
export async function seriousProblems(page: Page): Promise<string[]> {
  const violations = await check(page, {});
  return lines(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical'));
}

/** All problems that axe finds, including targets that are too small, one per line. */
export async function allProblems(page: Page): Promise<string[]> {
  return lines(await check(page, { rules: { 'target-size': { enabled: true } } }));
}

/** What is smaller than 24 pixels and too close to something else (WCAG 2.2, target size), one per line. */
export async function smallTargets(page: Page): Promise<string[]> {
  return lines(await check(page, { runOnly: { type: 'rule', values: ['target-size'] } }));
}

/** Texts with too little contrast, one per line. */
export async function contrastProblems(page: Page): Promise<string[]> {
  return lines(await check(page, { runOnly: { type: 'rule', values: ['color-contrast'] } }));
}

async function check(page: Page, options: object): Promise<AxeResults['violations']> {
  // An element that fades in has too little contrast until it is visible, and may start at any time. Without motion,
  // none does.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
  // Playwright evaluates the script, so the page's policy does not apply.
  await page.evaluate(readFileSync(AXE_FILE, 'utf8'));
  const results = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(SCOPE)}, ${JSON.stringify(options)})`,
  );
  return results.violations;
}

function lines(violations: AxeResults['violations']): string[] {
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  );
}
