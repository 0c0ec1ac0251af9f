/** Goal: every page tells users without access what they lack, and does not repeat its calls endlessly. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { ROUTES, type RoutePath } from '../src/app/routes.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

/** Example addresses for each route. */
const ADDRESSES: Readonly<Record<RoutePath, readonly string[]>> = {
  '/runs': ['/runs', '/runs?status=Runnable'],
  '/runs/*': ['/runs/some-run', '/runs/some-run?tab=steps', '/runs/some-run?tab=history'],
  '/definitions/*?': [
    '/definitions',
    '/definitions/d',
    '/definitions/d/edit',
    '/definitions/d/start',
  ],
  '/new-definition': ['/new-definition'],
  '/events': ['/events', '/events?name=n&key=k'],
  '/activities/*?': ['/activities', '/activities/a'],
  '/steps/*?': ['/steps', '/steps/s'],
  '/new-step': ['/new-step'],
  '/nodes': ['/nodes'],
};
const ALL = ROUTES.flatMap((route) => ADDRESSES[route]);

describe.runIf(browserPath !== null)('a user without access', () => {
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
  });

  beforeEach(() => {
    // The browser reports rejected calls on its console.
    pages.expectBrowserError(/40[13]/);
  });

  /** Opens a page on a clock that the test controls, and records its API calls. */
  const open = async (
    path: string,
    token: string | null,
  ): Promise<{ readonly page: Page; readonly calls: string[] }> => {
    const calls: string[] = [];
    const page = await pages.open(path, {}, async (opened) => {
      await opened.clock.install();
      opened.on('request', (request) => {
        if (request.url().includes('/api/')) calls.push(request.url());
      });
      if (token === null) return;
      await opened.addInitScript(
        (value) => sessionStorage.setItem('stepwright.token', value),
        token,
      );
    });
    return { page, calls };
  };
  /** Expects no new calls for two minutes, after the pending ones. */
  const expectSilence = async (page: Page, calls: readonly string[]): Promise<void> => {
    await page.waitForLoadState('networkidle');
    const before = calls.length;
    await page.clock.runFor(120_000);
    expect(calls.slice(before)).toEqual([]);
  };

  test.each(ALL)('is asked for a token on %s', async (path) => {
    const { page, calls } = await open(path, null);
    await page.getByText('This server requires a token.').waitFor();
    await page.getByLabel('Bearer token').waitFor();
    await expectSilence(page, calls);
  });

  test.each(ALL)('whose token lacks the scope is told its name on %s', async (path) => {
    const { page, calls } = await open(path, makeToken('till', 'conductor:worker'));
    await page.getByRole('heading', { name: 'Not allowed', level: 1 }).waitFor();
    await page.getByText('This call requires the scope conductor:viewer').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await expectSilence(page, calls);
  });

  test('whose token expires on an open page is asked for a new one', async () => {
    const page = await pages.open('/nodes', {}, async (opened) => {
      await opened.addInitScript(
        (value) => sessionStorage.setItem('stepwright.token', value),
        makeToken('ada', 'conductor:viewer', 6),
      );
    });
    await page.getByText('It may have expired').waitFor();
  });
});
