/** Goal: the page is readable in both themes, usable with the keyboard alone, and fits into 390 pixels. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { openShop, type Shop } from './support/shop.js';

describe.runIf(browserPath !== null)('the pages about runs', () => {
  let shop: Shop;
  const pages = usePages({
    seed: async (client) => {
      shop = await openShop(client);
    },
  });
  /** The path of each view, and a text that it shows when it is complete. */
  const views = (): Record<string, readonly [path: string, text: string]> => ({
    runs: ['/runs', 'Showing'],
    'no runs': ['/runs?reference=nobody', 'No run matches the filter.'],
    'a waiting run': [`/runs/${shop.unpaid}`, 'Charge the card'],
    'a failed run': [`/runs/${shop.invoice}?tab=steps`, 'Python traceback'],
    'its data': [`/runs/${shop.order}?tab=data`, 'Ada Lovelace'],
  });
  const names = ['runs', 'no runs', 'a waiting run', 'a failed run', 'its data'];
  const openView = async (name: string, options: BrowserContextOptions): Promise<Page> => {
    const [path, text] = views()[name]!;
    const page = await pages.open(path, options);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText(text).first().waitFor();
    await page.locator('main .loading').waitFor({ state: 'detached' });
    return page;
  };

  test.each(names.flatMap((name) => [[name, 'light'] as const, [name, 'dark'] as const]))(
    'have no serious problems according to axe: %s, %s',
    async (name, colorScheme) => {
      const page = await openView(name, { colorScheme });
      expect(await seriousProblems(page)).toEqual([]);
    },
  );

  test.each(names)('fit into 390 pixels: %s', async (name) => {
    const page = await openView(name, { viewport: { width: 390, height: 780 } });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      390,
    );
  });

  test('can be used with the keyboard alone to find, open and terminate a run', async () => {
    const { id } = await pages.client.workflows.start('reminder', {}, { reference: 'by-keyboard' });
    pages.expectBrowserError(/404/);
    const page = await openView('runs', {});
    const focused = (): Promise<string> =>
      page.evaluate(() => {
        const { activeElement: element } = document;
        return element?.getAttribute('aria-label') ?? element?.textContent ?? '';
      });
    const tabTo = async (name: string | RegExp): Promise<void> => {
      for (let presses = 0; presses < 80; presses += 1) {
        await page.keyboard.press('Tab');
        const text = await focused();
        if (typeof name === 'string' ? text === name : name.test(text)) return;
      }
      throw new Error(`Tab does not come to ${String(name)}`);
    };
    await tabTo(/^Find runs/);
    await page.keyboard.type('by-keyboard');
    await page.keyboard.press('Enter');
    await page.waitForURL(/reference=by-keyboard/);
    await page.locator(`tr[data-key="${id}"]`).waitFor();
    // What is shown leaves out the middle; what is read aloud does not.
    await tabTo(new RegExp(`…${id.slice(-8)}${id}$`));
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname.endsWith(id));
    // The heading has the focus, so that Tab continues from there.
    await page.locator('h1:focus', { hasText: 'reminder' }).waitFor();
    await tabTo('Terminate');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    // Enter alone does no harm.
    await expect.poll(focused).toBe('Cancel');
    await tabTo('Terminate');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('h1 .badge').first().textContent()).toBe('■ Terminated');
    await page.goBack();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  });

  test('change tabs with the arrow keys', async () => {
    const page = await pages.open(`/runs/${shop.order}`);
    await page.getByRole('tab', { name: 'Overview' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=steps/);
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=data/);
  });
});
