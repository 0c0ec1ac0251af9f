/**
 * Goal: the pictures of the documentation show the page as it is. Taken only when asked for: `pnpm screenshots`. Each page
 * adds its pictures here.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { openShop, type Shop } from './support/shop.js';

const FOLDER = fileURLToPath(new URL('../../../docs/ui/', import.meta.url));
const isWanted = process.env['SCREENSHOTS'] === '1' && browserPath !== null;

interface Picture {
  readonly name: string;
  readonly path: (shop: Shop) => string;
  /** What is there when the page is ready. */
  readonly shows: string;
  readonly options?: BrowserContextOptions;
  readonly prepare?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'runs', path: () => '/runs', shows: 'order-4711' },
  {
    name: 'runs-dark',
    path: () => '/runs?status=Runnable',
    shows: 'order-4711',
    options: { colorScheme: 'dark' },
  },
  {
    name: 'runs-narrow',
    path: () => '/runs?status=Suspended',
    shows: 'order-4700',
    options: { viewport: { width: 390, height: 780 } },
  },
  {
    name: 'run',
    path: ({ order }) => `/runs/${order}`,
    shows: 'Charge the card',
    options: { viewport: { width: 1280, height: 1280 } },
  },
  {
    name: 'run-failed',
    path: ({ invoice }) => `/runs/${invoice}?tab=steps`,
    shows: 'Python traceback',
    prepare: (page) => page.locator('section.why').getByText('Python traceback').click(),
  },
  {
    name: 'run-history',
    path: ({ reminder }) => `/runs/${reminder}?tab=history`,
    shows: 'anonymous',
  },
  {
    name: 'run-data',
    path: ({ order }) => `/runs/${order}?tab=data`,
    shows: 'Ada Lovelace',
    options: { colorScheme: 'dark' },
  },
  {
    name: 'run-publish',
    path: ({ order }) => `/runs/${order}`,
    shows: 'Charge the card',
    prepare: (page) => page.getByRole('button', { name: 'Publish the event' }).click(),
  },
];

describe.runIf(isWanted)('pictures for the documentation', () => {
  let shop: Shop;
  const pages = usePages({
    seed: async (client) => {
      shop = await openShop(client);
      await client.workflows.suspend(shop.reminder);
      await client.workflows.resume(shop.reminder);
    },
  });

  test.each(PICTURES)('$name', async ({ name, path, shows, options, prepare }) => {
    const page = await pages.open(path(shop), options);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText(shows).first().waitFor();
    await page.locator('main .loading').waitFor({ state: 'detached' });
    await prepare?.(page);
    await page.evaluate(() => document.fonts.ready);
    mkdirSync(FOLDER, { recursive: true });
    const picture = await page.screenshot({ path: `${FOLDER}${name}.png`, animations: 'disabled' });
    expect(picture.length).toBeGreaterThan(10_000);
  });
});
