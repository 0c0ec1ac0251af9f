/** Goal: the page is usable with the keyboard alone. */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { openShop, type Shop } from './support/shop.js';

describe.runIf(browserPath !== null)('the run view', () => {
  let shop: Shop;
  const pages = usePages({
    seed: async (client) => {
      shop = await openShop(client);
    },
  });

  test('lets users find, open and terminate a run with the keyboard alone', async () => {
    const { id } = await pages.client.workflows.start('reminder', {}, { reference: 'by-keyboard' });
    const page = await pages.open('/runs');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('Showing').waitFor();
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

  test('changes tabs with the arrow keys', async () => {
    const page = await pages.open(`/runs/${shop.order}`);
    await page.getByRole('tab', { name: 'Overview' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=steps/);
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=data/);
  });
});
