/**
 * Goal: every page and every dialog is accessible according to axe, in both themes and in a wide and a narrow window,
 * and is free of errors of the browser. The list of views is complete.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepwrightClient } from '@stepwright/sdk';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';
import { ROUTES } from '../src/app/routes.js';
import { openAgency } from './support/agency.js';
import { allProblems, contrastProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { openAccess } from './support/accessed.js';
import { openNotifications } from './support/notified.js';
import { usePages } from './support/page-test.js';
import { openRefunds } from './support/refunds.js';
import { openReports } from './support/reports.js';
import { openShop } from './support/shop.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';
import { VIEWS, type Seeded, type View } from './support/views.js';

const SOURCES = join(import.meta.dirname, '../src');
const WIDTHS = [1440, 390] as const;
/** Every second view is shown in the narrow window. By night: each in both. */
const widthsOf = (index: number): readonly number[] =>
  IS_NIGHTLY ? WIDTHS : [WIDTHS[index % 2 === 0 ? 0 : 1]];
/** Each theme in one window: the theme changes the colors alone, which depend little on the width. By night: both in both. */
const themesAt = (width: number): readonly ('light' | 'dark')[] =>
  IS_NIGHTLY ? ['light', 'dark'] : [width < 500 ? 'dark' : 'light'];

const windowOf = (width: number) => ({ viewport: { width, height: width < 500 ? 780 : 900 } });

/** The problems of what is shown, and whether the window scrolls sideways. */
async function problemsOf(page: Page, width: number): Promise<string[]> {
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
  const { id } = await client.bulk.create({
    action: 'suspend',
    workflowIds: [shop.reminder, shop.stopped],
    reason: 'a test of the page',
  });
  await eventually('the job is done', async () => (await client.bulk.get(id)).state === 'Done');
  return { shop, refunds, jobId: id };
}

describe('the list of views', () => {
  const paths = VIEWS.map(({ path }) =>
    typeof path === 'string' ? path : path({ shop: {}, refunds: {}, jobId: 'id' } as Seeded),
  ).map((path) => path.replace(/\?.*/, ''));

  const isShown = (route: string): boolean =>
    route.endsWith('/*?')
      ? isShown(route.slice(0, -3)) && isShown(route.slice(0, -1))
      : paths.some((path) =>
          route.endsWith('/*') ? path.startsWith(route.slice(0, -1)) : path === route,
        );

  test('contains every address of the page, alone and with a name', () => {
    expect(ROUTES.filter((route) => !isShown(route))).toEqual([]);
  });

  test('contains every dialog and menu', () => {
    const files = globSync('**/*.tsx', { cwd: SOURCES });
    const missing = files.filter((file) => {
      // The components themselves, and the dialog for signing in, which has a test below.
      if (/^(app|components)\//.test(file)) return false;
      const code = readFileSync(join(SOURCES, file), 'utf8');
      const opened = code.match(/<DialogForm$|<FormDialog$|<Menu |await confirm\(/gm) ?? [];
      return VIEWS.filter(({ from }) => from === file).length < opened.length;
    });
    expect(missing).toEqual([]);
  });
});

describe.runIf(browserPath !== null)('every page and every dialog', () => {
  let seeded: Seeded;
  const pages = usePages({
    seed: async (client) => {
      seeded = await seedAll(client);
    },
  });

  const show = async ({ path, ready, open, error }: View, width: number): Promise<Page> => {
    if (error !== undefined) pages.expectBrowserError(error);
    const address = typeof path === 'string' ? path : path(seeded);
    const page = await pages.open(address, windowOf(width));
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('h1').waitFor();
    await expect.poll(() => page.locator('main .loading').count()).toBe(0);
    await open?.(page);
    await page.locator(ready).first().waitFor({ state: 'attached' });
    return page;
  };

  const shown = VIEWS.flatMap((view, index) =>
    widthsOf(index).map((width) => ({ view, width, name: view.name })),
  );

  test.each(shown)(
    'has no problem according to axe: $name, $width pixels',
    async ({ view, width }) => {
      expect(await problemsOf(await show(view, width), width)).toEqual([]);
    },
  );

  test('shows every tab of a run and every view of a definition', async () => {
    const tabs = await show(
      VIEWS.find(({ name }) => name === 'a run, overview')!,
      1440,
    );
    const names = await tabs.getByRole('tab').allTextContents();
    const definition = await show(
      VIEWS.find(({ name }) => name === 'a definition, graph')!,
      1440,
    );
    const group = definition.getByRole('group', { name: 'Show', exact: true });
    const views = await group.getByRole('button').allTextContents();
    expect(views.length).toBeGreaterThan(0);
    const wanted = [
      ...names.map((name) => `a run, ${name.toLowerCase()}`),
      ...views.map((name) => `a definition, ${name.toLowerCase()}`),
    ];
    expect(wanted.filter((name) => VIEWS.every((view) => view.name !== name))).toEqual([]);
  });

  test('allows the API description to be read', async () => {
    const page = await pages.open('/');
    await page.goto(`${pages.server.url}/swagger`);
    await page.locator('.opblock-summary').first().waitFor();
    // Its structure is that of Swagger UI.
    expect(await contrastProblems(page)).toEqual([]);
  });
});

describe.runIf(browserPath !== null)('signing in', () => {
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
  });

  test.each(WIDTHS)('has no problem according to axe: %i pixels', async (width) => {
    pages.expectBrowserError(/40[13]/);
    const page = await pages.open('/new-step', windowOf(width));
    const signIn = async (scope: string): Promise<void> => {
      await page.getByLabel('Bearer token').fill(makeToken('ada', scope));
      await page.getByLabel('Bearer token').press('Enter');
    };
    await page.getByLabel('Bearer token').waitFor();
    expect(await problemsOf(page, width)).toEqual([]);
    await signIn('conductor:admin');
    await page.locator('.cm-line').first().waitFor();
    // The token has expired.
    await page.route('**/api/step/**', (route) =>
      route.fulfill({
        status: 401,
        contentType: 'application/problem+json',
        body: JSON.stringify({ status: 401, code: 'unauthorized', title: '', detail: 'expired' }),
      }),
    );
    await page.getByLabel(/^Name/).fill('total');
    await page.getByRole('button', { name: /^Publish/ }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    expect(await problemsOf(page, width)).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).last().click();
    await page.getByLabel('Bearer token').waitFor();
    await signIn('conductor:worker');
    await page.getByText('403 forbidden').waitFor();
    expect(await problemsOf(page, width)).toEqual([]);
  });
});
