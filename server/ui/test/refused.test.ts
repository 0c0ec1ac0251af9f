/** Goal: every page tells users without access what they lack, and does not repeat its calls endlessly. */
import type { Page, Request } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';
import { ROUTES, type RoutePath } from '../src/app/routes.js';
import type { Credentials } from '../src/app/sign-in/credentials.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

/** Example addresses for each route. */
const ADDRESSES: Readonly<Record<RoutePath, readonly string[]>> = {
  '/overview': ['/overview'],
  '/runs': ['/runs', '/runs?status=Runnable'],
  '/runs/*': ['/runs/some-run', '/runs/some-run?tab=steps', '/runs/some-run?tab=history'],
  '/bulk/*?': ['/bulk', '/bulk/some-job'],
  '/failures': ['/failures', '/failures?definitionId=d'],
  '/definitions/*?': [
    '/definitions',
    '/definitions/d',
    '/definitions/d?view=triggers',
    '/definitions/d/edit',
    '/definitions/d/start',
  ],
  '/new-definition': ['/new-definition'],
  '/schedule': ['/schedule'],
  '/events': ['/events', '/events?name=n&key=k'],
  '/activities/*?': ['/activities', '/activities/a'],
  '/limits/*?': ['/limits', '/limits/l'],
  '/workers/*?': ['/workers', '/workers/w'],
  '/steps/*?': ['/steps', '/steps/s'],
  '/new-step': ['/new-step'],
  '/notifications/*?': ['/notifications', '/notifications/n'],
  '/webhooks': ['/webhooks'],
  '/secrets': ['/secrets'],
  '/keys': ['/keys'],
  '/audit': ['/audit', '/audit?actor=a&within=1h'],
  '/nodes': ['/nodes'],
};
interface Opened {
  readonly page: Page;
  /** The addresses of its calls. */
  readonly calls: readonly string[];
  readonly pending: ReadonlySet<Request>;
}

/** Signs in as a reload of the tab would. */
async function keepToken(page: Page, token: string): Promise<void> {
  const credentials: Credentials = { token, renewal: null };
  await page.addInitScript(
    (value) => sessionStorage.setItem('stepwright.credentials', value),
    JSON.stringify(credentials),
  );
}

/** By day, one address of each page. */
const ALL = ROUTES.flatMap((route) => ADDRESSES[route].slice(0, IS_NIGHTLY ? undefined : 1));

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
  const open = async (path: string, token: string | null): Promise<Opened> => {
    const calls: string[] = [];
    const pending = new Set<Request>();
    const page = await pages.open(path, {}, async (opened) => {
      await opened.clock.install();
      opened.on('request', (request) => {
        if (!request.url().includes('/api/')) return;
        calls.push(request.url());
        pending.add(request);
      });
      opened.on('requestfinished', (request) => pending.delete(request));
      opened.on('requestfailed', (request) => pending.delete(request));
      if (token === null) return;
      await keepToken(opened, token);
    });
    return { page, calls, pending };
  };
  /** Expects no new calls for two minutes, after the pending ones. */
  const expectSilence = async ({ page, calls, pending }: Opened): Promise<void> => {
    await expect.poll(() => pending.size).toBe(0);
    const before = calls.length;
    await page.clock.runFor(120_000);
    expect(calls.slice(before)).toEqual([]);
  };

  test.each(ALL)('is asked for a token on %s', async (path) => {
    const opened = await open(path, null);
    const { page } = opened;
    await page.getByText('This server requires a token.').waitFor();
    await page.getByLabel('Bearer token').waitFor();
    await expectSilence(opened);
  });

  test.each(ALL)('names the missing scope on %s', async (path) => {
    const opened = await open(path, makeToken('till', 'conductor:worker'));
    const { page } = opened;
    await page.getByRole('heading', { name: 'Not allowed', level: 1 }).waitFor();
    await page.getByText('This call requires the scope conductor:viewer').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await expectSilence(opened);
  });

  test('prompts for a new token when it expires while the page is open', async () => {
    const page = await pages.open('/nodes', {}, (opened) =>
      keepToken(opened, makeToken('ada', 'conductor:viewer', 6)),
    );
    await page.getByText('It may have expired').waitFor();
  });
});
