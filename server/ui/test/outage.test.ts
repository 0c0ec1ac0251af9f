/** Goal: an outage of the server is said once, and the page recovers on its own. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

describe.runIf(browserPath !== null)('an outage of the server', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register({
        id: 'greeting',
        steps: [{ id: 'greet', stepType: 'NoOp' }],
      });
      await client.workflows.start('greeting', {}, { reference: 'before' });
    },
  });

  const alerts = (page: Page): Promise<string[]> =>
    page.locator('[role="alert"], .toast').allTextContents();

  test.each(['/runs', '/definitions', '/overview', '/workers', '/nodes'])(
    'appears as one banner, which disappears by itself: %s',
    async (path) => {
      const page = await pages.open(path);
      await page.getByText('Live', { exact: true }).waitFor();
      // The files of the page have been loaded.
      await page.locator('h1').waitFor();
      await expect.poll(() => page.locator('.loading').count()).toBe(0);
      pages.expectBrowserError(/ERR_|Failed to load/);
      await pages.server.kill();
      await page.getByText('The server cannot be reached.').waitFor();
      const said = await alerts(page);
      await pages.server.start();
      expect(said.filter((text) => text !== '')).toHaveLength(1);
      await page.getByText('The server cannot be reached.').waitFor({ state: 'detached' });
      await page.getByText('Live', { exact: true }).waitFor();
      await expect.poll(async () => (await alerts(page)).join('')).toBe('');
    },
  );
});
