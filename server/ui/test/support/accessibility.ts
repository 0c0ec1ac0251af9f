/**
 * Opens views of the operator's page and checks them with axe, in both themes and in a wide and a narrow window.
 *
 * Each width has its own test file, because the files run in parallel and these tests take longest.
 */
import type { StepwrightClient } from '@stepwright/sdk';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { IS_NIGHTLY } from '../../../../sdk/test/support/nightly.js';
import { openAccess } from './accessed.js';
import { openAgency } from './agency.js';
import { allProblems } from './axe.js';
import { openLimits } from './limited.js';
import { openNotifications } from './notified.js';
import { usePages, type PageTest } from './page-test.js';
import { openRefunds } from './refunds.js';
import { openReports } from './reports.js';
import { openShop } from './shop.js';
import { VIEWS, type Seeded, type View } from './views.js';

export const WIDTHS = [1440, 390] as const;
export type Width = (typeof WIDTHS)[number];

/** Every second view is shown in the narrow window. By night: each in both. */
const isShownAt = (width: Width, index: number): boolean =>
  IS_NIGHTLY || width === WIDTHS[index % 2 === 0 ? 0 : 1];
/** Each theme in one window: the theme changes the colors alone, which depend little on the width. By night: both in both. */
const themesAt = (width: number): readonly ('light' | 'dark')[] =>
  IS_NIGHTLY ? ['light', 'dark'] : [width < 500 ? 'dark' : 'light'];

export const windowOf = (width: number) => ({
  viewport: { width, height: width < 500 ? 780 : 900 },
});

/** The problems of what is shown, and whether the window scrolls sideways. */
export async function problemsOf(page: Page, width: number): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of themesAt(width)) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await allProblems(page)).map((problem) => `${colorScheme}: ${problem}`));
  }
  const shown = await page.evaluate(() => document.documentElement.scrollWidth);
  return shown > width ? [...found, `${shown} pixels wide`] : found;
}

async function seedAll(client: StepwrightClient): Promise<Seeded> {
  const shop = await openShop(client);
  const refunds = await openRefunds(client);
  await openAgency(client);
  await openReports(client);
  await openNotifications(client);
  await openAccess(client);
  await openLimits(client);
  const { id } = await client.bulk.create({
    action: 'suspend',
    workflowIds: [shop.reminder, shop.stopped],
    reason: 'a test of the page',
  });
  await eventually('the job is done', async () => (await client.bulk.get(id)).state === 'Done');
  return { shop, refunds, jobId: id };
}

export interface Views {
  readonly pages: PageTest;
  /** Opens the view, complete with its dialog or menu. */
  readonly show: (view: View, width: Width) => Promise<Page>;
}

/** Call it in a `describe`. Its server has everything that the views show. */
export function useViews(): Views {
  let seeded: Seeded;
  const pages = usePages({
    seed: async (client) => {
      seeded = await seedAll(client);
    },
  });
  return {
    pages,
    show: async ({ path, ready, open, error }, width) => {
      if (error !== undefined) pages.expectBrowserError(error);
      const address = typeof path === 'string' ? path : path(seeded);
      const page = await pages.open(address, windowOf(width));
      await page.getByText('Live', { exact: true }).waitFor();
      await page.locator('h1').waitFor();
      await expect.poll(() => page.locator('main .loading').count()).toBe(0);
      await open?.(page);
      await page.locator(ready).first().waitFor({ state: 'attached' });
      return page;
    },
  };
}

/** Declares one test for each view that is shown at this width. */
export function testViews({ show }: Views, width: Width): void {
  const shown = VIEWS.filter((_, index) => isShownAt(width, index));
  test.each(shown)('has no problem according to axe: $name', async (view) => {
    expect(await problemsOf(await show(view, width), width)).toEqual([]);
  });
}
