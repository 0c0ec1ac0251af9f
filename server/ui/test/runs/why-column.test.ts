/** Goal: the list says why each run waits, with few calls. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { browserPath } from '../support/browser.js';
import { usePages } from '../support/page-test.js';

const ORDER = `
Id: order
Steps:
  - Id: approval
    StepType: WaitFor
    Inputs:
      EventName: '"approved"'
      EventKey: data.order
    NextStepId: shipment
  - Id: shipment
    StepType: WaitFor
    Inputs:
      EventName: '"shipped"'
      EventKey: data.order
`;
const RUNS = 50;
/** The page explains a run only once it has not changed for a second. */
const AT_REST_MS = 1500;

describe.runIf(browserPath !== null)('the list of waiting runs', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(ORDER);
      for (let order = 1; order <= RUNS; order += 1) {
        await client.workflows.start('order', { order: String(order) });
      }
      await eventually('all runs are at rest', async () => {
        const { items } = await client.workflows.list({ limit: RUNS }).page();
        const since = Date.now() - AT_REST_MS;
        return items.every(({ lastChangeTime }) => Date.parse(lastChangeTime) < since);
      });
    },
  });

  /** The ids of each call that asks why runs wait. */
  const watch = (page: Page, calls: string[][]): void => {
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/explain')) calls.push(searchParams.getAll('id'));
    });
  };

  test('requests all rows in one call, and then only the changed ones', async () => {
    const calls: string[][] = [];
    const page = await pages.open('/runs', {}, async (opened) => watch(opened, calls));
    const cells = page.locator('.why-text');
    await expect.poll(() => cells.filter({ hasText: 'event approved/' }).count()).toBe(RUNS);
    expect(calls.map((ids) => ids.length)).toEqual([RUNS]);

    calls.length = 0;
    await page.getByText('Live', { exact: true }).waitFor();
    await pages.client.events.publish('approved', '7', {});
    await cells.filter({ hasText: 'event shipped/7' }).waitFor();
    expect(calls.map((ids) => ids.length)).toEqual([1]);
  });

  test('requests the missing reasons again if the server had no time for them', async () => {
    const calls: string[][] = [];
    let answers = 0;
    const page = await pages.open('/runs', {}, async (opened) => {
      watch(opened, calls);
      await opened.route(/\/explain\?/, async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { items: { workflowId: string }[]; left: string[] };
        answers += 1;
        const late = answers === 1 ? body.items.splice(10) : [];
        const left = late.map(({ workflowId }) => workflowId);
        await route.fulfill({ response, json: { ...body, left } });
      });
    });
    await expect.poll(() => page.locator('.why-text').count()).toBe(RUNS);
    expect(calls.map((ids) => ids.length)).toEqual([RUNS, RUNS - 10]);
  });
});
