/** Goal: on every page whoever may not look is told what is missing, and the page does not ask without end. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { ROUTES, type RoutePath } from '../src/app/routes.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

/** Each kind of address that a route of the page's router leads to. */
const ADDRESSES: Readonly<Record<RoutePath, readonly string[]>> = {
  '/runs': ['/runs', '/runs?status=Runnable'],
  '/runs/*': ['/runs/some-run', '/runs/some-run?tab=steps', '/runs/some-run?tab=history'],
  '/definitions/*?': ['/definitions', '/definitions/d', '/definitions/d/edit'],
  '/new-definition': ['/new-definition'],
  '/events': ['/events', '/events?name=n&key=k'],
  '/activities/*?': ['/activities', '/activities/a'],
  '/steps/*?': ['/steps', '/steps/s'],
  '/new-step': ['/new-step'],
  '/nodes': ['/nodes'],
};
const ALL = ROUTES.flatMap((route) => ADDRESSES[route]);

describe.runIf(browserPath !== null)('whoever may not look', () => {
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
  });

  beforeEach(() => {
    // The browser itself writes refused calls to its console.
    pages.expectBrowserError(/40[13]/);
  });

  /** The calls of the API that a page makes, on a clock that the test moves. */
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
  /** Two minutes go by; what is under way at their beginning may end. */
  const expectSilence = async (page: Page, calls: readonly string[]): Promise<void> => {
    await page.waitForLoadState('networkidle');
    const before = calls.length;
    await page.clock.runFor(120_000);
    expect(calls.slice(before)).toEqual([]);
  };

  test.each(ALL)('%s without a token asks for one', async (path) => {
    const { page, calls } = await open(path, null);
    await page.getByText('This server asks for a token.').waitFor();
    await page.getByLabel('Bearer token').waitFor();
    await expectSilence(page, calls);
  });

  test.each(ALL)('%s with a token that lacks the scope names the scope', async (path) => {
    const { page, calls } = await open(path, makeToken('till', 'conductor:worker'));
    await page.getByRole('heading', { name: 'Not allowed', level: 1 }).waitFor();
    await page.getByText('This call requires the scope conductor:viewer').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await expectSilence(page, calls);
  });

  test('a token that expires while one looks is asked for anew', async () => {
    const page = await pages.open('/nodes', {}, async (opened) => {
      await opened.addInitScript(
        (value) => sessionStorage.setItem('stepwright.token', value),
        makeToken('ada', 'conductor:viewer', 6),
      );
    });
    await page.getByText('it may have expired').waitFor();
  });
});
