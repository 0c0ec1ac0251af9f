/**
 * Goal: a page reads nothing twice when it loads, shows the first run on a phone, and keeps what was typed when a token
 * expires. The walk makes no external request and leaves the console empty (see page-test.ts).
 */
import type { Page, Request } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { allProblems, seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';
import { openShop } from './support/shop.js';

const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 390, height: 780 };

/** What axe finds, per theme and width. */
async function problemsOf(page: Page): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const size of [WIDE, NARROW]) {
      await page.setViewportSize(size);
      const lines = await allProblems(page);
      if (lines.length > 0) found[`${colorScheme} ${size.width}`] = lines;
    }
  }
  return found;
}

/** No list is polled more often, except that of a running bulk job. */
const POLL_MS_MIN = 4000;

/** The addresses below /api that the page reads again in less time than any poll takes. */
function watchDoubleReads(page: Page): () => string[] {
  const finished: Request[] = [];
  page.on('requestfinished', (request) => finished.push(request));
  return () => {
    const last = new Map<string, number>();
    return finished
      .map((request) => ({ request, startMs: request.timing().startTime }))
      .sort((a, b) => a.startMs - b.startMs)
      .flatMap(({ request, startMs }) => {
        const url = request.url();
        if (request.method() !== 'GET' || !url.includes('/api/')) return [];
        const beforeMs = last.get(url) ?? -Infinity;
        last.set(url, startMs);
        return startMs - beforeMs < POLL_MS_MIN ? [url] : [];
      });
  };
}

describe.runIf(browserPath !== null)('a page', () => {
  const pages = usePages({
    seed: async (client) => {
      await openShop(client);
    },
  });

  test.each(['/runs', '/definitions', '/activities', '/nodes'])(
    'reads nothing twice, and has no serious problem: %s',
    async (path) => {
      let doubleReads = (): string[] => [];
      const page = await pages.open(path, { viewport: WIDE }, async (opened) => {
        doubleReads = watchDoubleReads(opened);
      });
      await page.getByText('Live', { exact: true }).waitFor();
      await page.locator('main table').first().waitFor();
      expect(await seriousProblems(page)).toEqual([]);
      expect(doubleReads()).toEqual([]);
    },
  );

  test('shows the first run on the first screen of a phone; the filters unfold', async () => {
    const page = await pages.open('/runs?status=Runnable&parent=any', { viewport: NARROW });
    const row = page.locator('main tbody tr').first();
    await row.waitFor();
    const box = await row.boundingBox();
    expect(box!.y + 40).toBeLessThan(NARROW.height);
    const fold = page.getByRole('button', { name: 'Filters (2)' });
    expect(await page.getByLabel(/^Reference/).isVisible()).toBe(false);
    await fold.click();
    await page.getByLabel(/^Reference/).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
  });
});

describe.runIf(browserPath !== null)('the sign-in', () => {
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
    seed: async (client) => {
      await client.definitions.register({ id: 'idle', steps: [{ id: 'one', stepType: 'NoOp' }] });
    },
  });

  test('has no problem, masks the token, and is sent with Enter', async () => {
    // The browser reports rejected calls on its console.
    pages.expectBrowserError(/401/);
    const page = await pages.open('/definitions');
    const field = page.getByLabel('Bearer token');
    await field.waitFor();
    expect(await problemsOf(page)).toEqual({});
    expect(await field.getAttribute('type')).toBe('password');
    expect(await field.getAttribute('autocomplete')).toBe('off');
    await page.getByRole('button', { name: 'Show token' }).click();
    expect(await field.getAttribute('type')).toBe('text');
    await field.fill(makeToken('ada', 'conductor:viewer'));
    await field.press('Enter');
    await page.getByTitle('ada').waitFor();
    await page.getByRole('link', { name: 'idle' }).waitFor();
  });

  test('keeps the typed text after the token has expired', async () => {
    pages.expectBrowserError(/401/);
    const page = await pages.open('/definitions/idle/start');
    const signIn = async (): Promise<void> => {
      await page.getByLabel('Bearer token').fill(makeToken('ada', 'conductor:admin'));
      await page.getByLabel('Bearer token').press('Enter');
    };
    await signIn();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByLabel(/^Reference/).fill('typed-before');
    await page.route('**/api/workflow/**', (route) =>
      route.fulfill({
        status: 401,
        contentType: 'application/problem+json',
        body: JSON.stringify({ status: 401, code: 'unauthorized', title: '', detail: 'expired' }),
      }),
    );
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await page.unroute('**/api/workflow/**');
    await signIn();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel(/^Reference/).inputValue()).toBe('typed-before');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/\/runs\//);
  });
});
