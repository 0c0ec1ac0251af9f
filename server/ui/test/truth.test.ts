/** Goal: the page says why each run waits or failed, in words, and all its times are true and in one time zone. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { smallTargets } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { openShop, type Shop } from './support/shop.js';

describe.runIf(browserPath !== null)('the page', () => {
  let shop: Shop;
  const pages = usePages({
    seed: async (client) => {
      shop = await openShop(client);
    },
  });

  const cell = (page: Page, id: string, label: string) =>
    page.locator(`tr[data-key="${id}"] [data-label="${label}"]`);
  const chooseZone = async (page: Page, zone: string): Promise<void> => {
    await page.getByLabel('Time zone').selectOption(zone);
  };

  test('says in the list how each run stands and why', async () => {
    const page = await pages.open('/runs');
    for (const [id, status, why] of [
      [shop.order, 'Waiting', 'event approved/order-4711'],
      [shop.unpaid, 'Waiting', 'activity charge-card'],
      [shop.invoice, 'Suspended', "KeyError: 'address'"],
      [shop.sync, 'Retrying', /fetch: .*attempt 2 in \d+ min/],
      [shop.reminder, 'Waiting', /^timer, in (2 d|1 d 23 h)$/],
      [shop.greeting, '✓ Completed', '–'],
    ] as const) {
      await expect.poll(() => cell(page, id, 'Status').textContent()).toBe(status);
      await cell(page, id, 'Why').filter({ hasText: why }).waitFor();
    }
  });

  test('updates a row with its run: it requests the reason of a wait again after a change', async () => {
    const { id } = await pages.client.workflows.start('reminder', {});
    const page = await pages.open('/runs?definitionId=reminder');
    await cell(page, id, 'Why').filter({ hasText: 'timer, in' }).waitFor();
    await pages.client.workflows.suspend(id);
    await cell(page, id, 'Why').filter({ hasText: 'suspended by an operator' }).waitFor();
    await pages.client.workflows.resume(id);
    await cell(page, id, 'Why').filter({ hasText: 'timer, in' }).waitFor();
    await pages.client.workflows.terminate(id);
    await expect.poll(() => cell(page, id, 'Status').textContent()).toBe('■ Terminated');
  });

  test('shows all times in local time or all in UTC, as the user chooses once, with the zone', async () => {
    const { startTime } = await pages.client.workflows.get(shop.order);
    const clockIn = (timeZone: string): string =>
      new Intl.DateTimeFormat('en-US', { timeStyle: 'long', timeZone }).format(new Date(startTime));
    const page = await pages.open(`/runs/${shop.order}`, {
      timezoneId: 'Asia/Kathmandu',
      locale: 'en-US',
    });
    const started = page.locator('.facts div', { hasText: 'Started' }).first();
    await started.getByText(clockIn('Asia/Kathmandu')).waitFor();
    await chooseZone(page, 'UTC');
    await started.getByText(clockIn('UTC')).waitFor();
    await page.getByRole('tab', { name: 'Steps' }).click();
    await page.locator('.step-row').first().click();
    await page.locator('.step-details').getByText('UTC').first().waitFor();
    await page.reload();
    await started.getByText(clockIn('UTC')).waitFor();
    await page.goto(`${pages.server.url}/ui/runs`);
    await page.getByLabel('Started after (UTC)').waitFor();
  });

  test('applies a time filter in the chosen zone', async () => {
    const page = await pages.open('/runs', { timezoneId: 'Asia/Kathmandu' });
    const asked = (): Promise<string> =>
      page
        .waitForRequest((request) => request.url().includes('startedFrom='))
        .then((request) => new URL(request.url()).searchParams.get('startedFrom') ?? '');
    await page.locator('tbody tr').first().waitFor();
    const local = asked();
    await page.getByLabel('Started after').fill('2020-01-01T00:00');
    expect(await local).toBe('2019-12-31T18:15:00.000Z');
    const utc = asked();
    await chooseZone(page, 'UTC');
    expect(await utc).toBe('2020-01-01T00:00:00.000Z');
  });

  test('lets the zone change while a list for the previous zone is being read', async () => {
    const page = await pages.open('/runs', { timezoneId: 'Asia/Kathmandu' });
    await page.locator('tbody tr').first().waitFor();
    const asked: string[] = [];
    await page.route(/startedFrom=/, async (route) => {
      const from = new URL(route.request().url()).searchParams.get('startedFrom') ?? '';
      asked.push(from);
      // The lists for the local time never arrive.
      if (!from.startsWith('2019')) await route.continue();
    });
    await page.getByLabel('Started after').fill('2020-01-01T00:00');
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    await chooseZone(page, 'UTC');
    await expect.poll(() => asked).toContain('2020-01-01T00:00:00.000Z');
  });

  test('names no retry time for a suspended run, and shows the error with its attempt number', async () => {
    const { id } = await pages.client.workflows.start('invoice', { customer: {} });
    await eventually('the run is suspended', async () => {
      return (await pages.client.workflows.get(id)).status === 'Suspended';
    });
    const page = await pages.open(`/runs/${id}?tab=steps`);
    const steps = page.locator('.step-rows');
    const next = steps.locator('li', { hasText: 'starts when the run is resumed' });
    await next.getByText('Suspended').waitFor();
    expect(await next.locator('summary').textContent()).toMatch(/attempt 2/);
    // The error belongs to the first attempt, which has a row of its own.
    expect(await next.locator('summary').textContent()).not.toContain("'address'");
    await steps.locator('li', { hasText: "'address'" }).getByText('Failed').waitFor();
    await next.locator('summary').click();
    await next.getByText('The previous attempt failed:').waitFor();
    await next.getByText(/^Attempt 1,/).waitFor();
    expect(await steps.textContent()).not.toMatch(/retry at|due/);
  });

  test('keeps a headline fresh', async () => {
    const { id } = await pages.client.workflows.start('greeting', {});
    const page = await pages.open(`/runs/${id}`);
    const text = page.locator('.why-summary');
    const told = async (): Promise<string> => {
      await text.getByText(/^completed \d+ (s|min) ago/).waitFor();
      return (await text.textContent()) ?? '';
    };
    const before = await told();
    // Without another answer of the server: the page itself counts.
    await page.route(/\/explain/, () => undefined);
    await expect.poll(told).not.toBe(before);
  });

  test('keeps the end of a shortened run id, and copies the whole id', async () => {
    const page = await pages.open('/runs');
    const link = page.getByRole('link', { name: shop.order });
    await link.waitFor();
    const shown = await link.locator('.run-id-short').textContent();
    expect(shown).toBe(`${shop.order.slice(0, 10)}…${shop.order.slice(-8)}`);
    const copied = await link.evaluate((element) => {
      const selection = window.getSelection();
      selection?.selectAllChildren(element);
      return selection?.toString().trim();
    });
    expect(copied).toBe(shop.order);
  });

  test('gives every control 24 pixels to itself, also on a phone', async () => {
    for (const path of ['/runs', `/runs/${shop.order}`, '/activities/charge-card']) {
      const page = await pages.open(path, { viewport: { width: 390, height: 800 } });
      await page.getByText('Live', { exact: true }).waitFor();
      await page.locator('main .loading').waitFor({ state: 'detached' });
      expect(await smallTargets(page)).toEqual([]);
    }
  });

  test('marks a work item without a lease: it is lost if its worker dies', async () => {
    await pages.client.workflows.start('order-fulfilment', { order: 1, customer: 'Al', lines: [] });
    await pages.client.activities.pull('charge-card', { workerId: 'till-9', waitSeconds: 15 });
    const page = await pages.open('/activities/charge-card');
    await page
      .locator('tr', { hasText: 'till-9' })
      .getByText('no lease: stays with this worker')
      .waitFor();
    await page.goto(`${pages.server.url}/ui/activities`);
    const queue = page.locator('tr', { hasText: 'charge-card' });
    await queue.getByText('no idle worker').waitFor();
    // A worker has polled just now, and holds an item.
    expect(await queue.locator('.badge.warning').count()).toBe(0);
    // All pages judge a queue by the same rule.
    await page.goto(`${pages.server.url}/ui/overview`);
    await queue.getByText('no idle worker').waitFor();
    expect(await queue.locator('.badge.warning').count()).toBe(0);
    await page.goto(`${pages.server.url}/ui/workers`);
    await page.getByRole('heading', { name: 'Workers', level: 1 }).waitFor();
    await page.getByText('till-9').first().waitFor();
    expect(await page.locator('.unattended', { hasText: 'charge-card' }).count()).toBe(0);
  });
});
