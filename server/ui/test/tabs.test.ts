/** Goal: any number of tabs share one change stream and one sign-in, so that no call waits behind a stream. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

const DEFINITION = `
Id: nap
Steps:
  - Id: sleep
    StepType: Delay
    Inputs:
      Period: 86400
`;

const openTab = async (context: BrowserContext, url: string): Promise<Page> => {
  const tab = await context.newPage();
  tab.setDefaultTimeout(60_000);
  await tab.goto(url);
  return tab;
};

const live = (page: Page): Promise<void> => page.getByText('Live', { exact: true }).waitFor();

describe.runIf(browserPath !== null)('a set of many tabs', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(DEFINITION);
    },
  });

  const streamCount = async (): Promise<number> => {
    const metrics = await (await fetch(`${pages.server.url}/metrics`)).text();
    return Number(/^stepwright_change_listeners (\d+)/m.exec(metrics)?.[1]);
  };

  test('shares one stream: twelve tabs are live, and the buttons of each work', async () => {
    const { id } = await pages.client.workflows.start('nap', {});
    const first = await pages.open(`/runs/${id}`);
    const tabs = [first];
    while (tabs.length < 12) tabs.push(await openTab(first.context(), first.url()));
    for (const tab of tabs) await live(tab);
    expect(await streamCount()).toBe(1);
    const last = tabs.at(-1)!;
    await last.getByRole('button', { name: 'Suspend' }).click();
    for (const tab of tabs) await tab.locator('h1 .badge', { hasText: 'Suspended' }).waitFor();
    await first.locator('.page-actions').getByRole('button', { name: 'Resume' }).click();
    for (const tab of tabs) await tab.locator('h1 .badge', { hasText: 'Waiting' }).waitFor();
  });

  test('ends the stream with the last tab', async () => {
    const first = await pages.open('/runs');
    const second = await openTab(first.context(), first.url());
    await live(first);
    await live(second);
    await first.close();
    await pages.client.workflows.start('nap', {}, { reference: 'after the first tab' });
    await second.getByText('after the first tab').waitFor();
    await second.close();
    await expect.poll(streamCount).toBe(0);
  });

  test('holds no connection after its tabs left for other addresses', async () => {
    const page = await pages.open('/runs');
    await live(page);
    for (let turn = 0; turn < 40; turn += 1) {
      await page.goto(`${pages.server.url}/ui/${['events', 'nodes', 'runs'][turn % 3]!}?t=${turn}`);
    }
    await live(page);
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    await expect.poll(streamCount).toBe(1);
    await page.goBack();
    await live(page);
    await expect.poll(streamCount).toBe(1);
  });

  test('holds a stream only while it is visible, in a browser without shared workers', async () => {
    const page = await pages.open('/runs', {}, async (opened) => {
      await opened.addInitScript(() => Reflect.deleteProperty(window, 'SharedWorker'));
    });
    await live(page);
    expect(await streamCount()).toBe(1);
    const show = (state: string): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await show('hidden');
    await expect.poll(streamCount).toBe(0);
    await pages.client.workflows.start('nap', {}, { reference: 'while hidden' });
    await show('visible');
    await page.getByText('while hidden').waitFor();
    await live(page);
  });
});

describe.runIf(browserPath !== null)('the sign-in of many tabs', () => {
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
  });
  let first: Page;

  afterEach(() => first.context().close());

  const signIn = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel('Bearer token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  test('applies to all tabs: signing in and out in one does so in all, and a new tab need not ask', async () => {
    pages.expectBrowserError(/401/);
    first = await pages.open('/runs');
    await first.getByText('This server requires a token.').waitFor();
    const second = await openTab(first.context(), first.url());
    await second.getByText('This server requires a token.').waitFor();
    await signIn(first, makeToken('ada', 'conductor:viewer'));
    for (const page of [first, second]) {
      await page.getByTitle('ada').waitFor();
      await live(page);
    }
    const rejected: string[] = [];
    const third = await openTab(first.context(), 'about:blank');
    third.on('response', (response) => {
      if (response.status() === 401) rejected.push(response.url());
    });
    await third.goto(first.url());
    await third.getByTitle('ada').waitFor();
    await live(third);
    expect(rejected).toEqual([]);
    const stored = await third.evaluate(() => JSON.stringify(localStorage));
    expect(stored).not.toContain('eyJ');
    await second.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [first, second, third]) {
      await page.getByText('You have signed out.').waitFor();
    }
  });
});
