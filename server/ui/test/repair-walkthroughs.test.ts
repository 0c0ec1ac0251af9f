/**
 * Goal: the walk-throughs of docs/repair.md work on the page as they do through the API, at their size.
 * Method: the definitions, the expected results and the reasons are those of the document; workers and services fail as it
 * says.
 */
import type { Workflow } from '@stepwright/sdk';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { useCallee } from '../../test/behavior/support/callee.js';
import { readWalkthroughs } from '../../test/behavior/support/walkthroughs.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';

const WALKTHROUGHS = readWalkthroughs();
const TITLES = {
  saga: 'A saga whose compensation failed',
  item: 'One bad item of 5,000',
  mistake: 'A run that was terminated by mistake',
  outage: '500 runs that failed in an outage',
  bug: 'A bug that the next version fixes',
} as const;
const LONG = { timeout: 60_000 };

/** The blocks of a walk-through in one language. */
function blocks(title: string, language: string): readonly string[] {
  const all = WALKTHROUGHS.get(title) ?? [];
  return all.filter((block) => block.language === language).map(({ text }) => text);
}

/** The last result that the document shows. */
function end(title: string): Partial<Workflow> {
  return JSON.parse(blocks(title, 'json').at(-1) ?? '') as Partial<Workflow>;
}

/** A service that is down at first. */
let isDown = true;
const charged: string[] = [];
const cards = useCallee((request, response) => {
  response.statusCode = isDown ? 503 : 200;
  if (!isDown) charged.push(request.url ?? '');
  response.end('{}');
});

describe.runIf(browserPath !== null)('a walk-through of docs/repair.md', () => {
  const pages = usePages();

  let attempts = 0;
  /** Version 1 has an id of its own at each attempt of a test; later versions have that of version 1. */
  const define = async (title: string, version = 1): Promise<string> => {
    if (version === 1) attempts += 1;
    const text = blocks(title, 'yaml')[version - 1] ?? '';
    const own = text.replace(/^Id: .*$/m, (line) => `${line}-${attempts}`);
    return (await pages.client.definitions.register(own)).id;
  };
  const work = async (name: string) =>
    (await pages.client.activities.pull(name, { waitSeconds: 30 }))!;
  const untilSuspended = (id: string) =>
    eventually('the run is suspended', async () => {
      const { status } = await pages.client.workflows.get(id);
      return status === 'Suspended';
    });
  const endsAsShown = async (title: string, id: string): Promise<void> => {
    await pages.client.workflows.wait(id, { timeoutMs: 40_000 });
    expect(await pages.client.workflows.get(id)).toMatchObject(end(title));
  };

  const openRepair = async (id: string): Promise<Page> => {
    const page = await pages.open(`/runs/${id}`);
    await page.getByRole('link', { name: 'Repair …' }).click();
    return page;
  };
  const panel = (page: Page) => page.getByRole('region', { name: 'Repair this run' });
  const preview = (page: Page) => panel(page).getByRole('group', { name: 'Preview' });
  /** Waits until the preview says this of what would happen. */
  const foresees = async (page: Page, facts: Readonly<Record<string, string>>): Promise<void> => {
    await expect
      .poll(async () => {
        const names = await preview(page).locator('dt').allTextContents();
        const values = await preview(page).locator('dd').allTextContents();
        return Object.fromEntries(names.map((name, at) => [name, values[at]]));
      }, LONG)
      .toMatchObject(facts);
  };
  const apply = async (page: Page, reason: string): Promise<void> => {
    await panel(page)
      .getByLabel(/^Reason/)
      .fill(reason);
    await panel(page).getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The run was repaired').waitFor();
  };

  test('skips a compensation that failed, with a record of the manual work', async () => {
    const title = TITLES.saga;
    const { activities, workflows } = pages.client;
    const { id } = await workflows.start(await define(title));
    await activities.succeed(await work('airline-book'), {});
    await activities.fail(await work('hotel-book'), 'full');
    await activities.fail(await work('airline-cancel'), 'not possible');
    await untilSuspended(id);
    const page = await openRepair(id);
    // The failed step is chosen, to be canceled and started again.
    await foresees(page, { Canceled: 'cancel-flight', Started: 'cancel-flight' });
    await panel(page).getByRole('button', { name: 'Do not start cancel-flight' }).click();
    await panel(page).getByText('Edit the data').click();
    const editor = panel(page).getByRole('textbox', { name: 'Data of the run as JSON' });
    await pasteText(editor, '{"refund": "by bank transfer"}');
    await foresees(page, {
      Canceled: 'cancel-flight',
      Started: 'nothing',
      'Outside calls that happen again': 'none',
    });
    await apply(page, 'the flight was canceled by phone');
    await endsAsShown(title, id);
    await expect
      .poll(() => page.locator('h1 .badge').first().textContent(), LONG)
      .toContain('Compensated');
  });

  test('corrects one bad item of 5,000 in its place, and lists nothing 5,000 times', async () => {
    const title = TITLES.item;
    const orders = Array.from({ length: 5000 }, (_, index) => ({
      price: index === 4711 ? '12,-' : 1,
    }));
    const { id } = await pages.client.workflows.start(await define(title), { orders, total: 0 });
    await eventually('one item is left', async () => {
      const { items } = await pages.client.workflows.steps(id, { order: 'desc', limit: 3 }).page();
      const open = items.filter(({ endTime }) => endTime === null);
      return open.some(({ executionId, error }) => executionId === 4713 && error !== null);
    });
    const page = await openRepair(id);
    const item = panel(page).getByLabel('item (JSON)');
    await expect.poll(() => item.inputValue(), LONG).toBe('{"price":"12,-"}');
    expect(await panel(page).getByLabel('index').inputValue()).toBe('4711');
    await item.fill('{"price": 12}');
    await foresees(page, { Canceled: 'price', Started: 'price' });
    expect(await page.locator('body *').count()).toBeLessThan(2000);
    await apply(page, 'order 4711 has a price with a comma');
    await endsAsShown(title, id);
    await page.getByRole('tab', { name: 'Steps' }).click();
    await page.locator('.step-rows > li').first().waitFor();
    expect(await page.locator('body *').count()).toBeLessThan(10_000);
  });

  test('makes a run terminated by mistake wait again where it was', async () => {
    const title = TITLES.mistake;
    const { activities, workflows, events } = pages.client;
    const { id } = await workflows.start(await define(title), { order: 'order-17' });
    await activities.succeed(await work('reserve-goods'), {});
    await expect
      .poll(async () => (await workflows.explain(id)).reasons[0]?.stepId, LONG)
      .toBe('approval');
    await workflows.terminate(id);
    const page = await openRepair(id);
    // The step that was open is chosen.
    await foresees(page, {
      Canceled: 'nothing',
      Started: 'approval',
      'Outside calls that happen again': 'none',
    });
    expect((await workflows.get(id)).status).toBe('Terminated');
    // Published while the run had ended, and taken all the same.
    await events.publish('order-approved', 'order-17', 'Ann');
    await apply(page, 'terminated by mistake');
    await endsAsShown(title, id);
    await expect
      .poll(() => page.locator('h1 .badge').first().textContent(), LONG)
      .toContain('Completed');
  });

  test('repairs 500 runs that failed in an outage with one job from the list of runs', async () => {
    const title = TITLES.outage;
    isDown = true;
    charged.length = 0;
    const definitionId = await define(title);
    const { workflows } = pages.client;
    const start = (order: number) =>
      workflows.start(definitionId, { service: cards.url, order: String(order) });
    for (let number = 0; number < 500; number += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, at) => start(number + at)));
    }
    const withOutcome = async (outcome: 'Failed' | 'Succeeded'): Promise<number> =>
      (await workflows.list({ definitionId, outcome, limit: 500 }).page()).items.length;
    await expect.poll(() => withOutcome('Failed'), LONG).toBe(500);
    isDown = false;

    const page = await pages.open(`/runs?definitionId=${definitionId}&outcome=Failed`);
    await page.locator('tbody tr').nth(49).waitFor();
    await page.getByLabel('Select all matching runs').check();
    await page.getByRole('button', { name: 'Repair', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Repair 500 runs?' });
    await dialog.getByText('500 runs, the first of them').waitFor();
    expect(await dialog.locator('.bulk-matches li').count()).toBe(5);
    await dialog.getByLabel(/start at this step/).selectOption('charge');
    await dialog.getByLabel(/^Reason/).fill('the card service was down');
    await dialog.getByLabel(/^Runs per second/).fill('200');
    expect(charged).toEqual([]);
    await dialog.getByRole('button', { name: 'Repair' }).click();
    await page.getByText('Repair finished: 500 of 500 repaired').waitFor();
    await page.getByRole('link', { name: 'Details' }).click();
    await page.getByText('Of 500 runs: 500 completed.').waitFor();
    expect(await withOutcome('Succeeded')).toBe(500);
    expect(new Set(charged).size).toBe(500);
    expect(charged.length).toBe(500);
  });

  test('moves a run to the version that fixes its bug, and its open step gets the new name', async () => {
    const title = TITLES.bug;
    const { activities, workflows } = pages.client;
    const { id } = await workflows.start(await define(title), { costs: 90, persons: 3 });
    await activities.succeed(await work('approve-costs'), {});
    await untilSuspended(id);
    await define(title, 2);
    pages.expectBrowserError(/409/);
    const page = await openRepair(id);
    await panel(page).getByRole('button', { name: 'Choose steps' }).click();
    await panel(page).getByLabel('Continue in version').fill('2');
    await preview(page)
      .getByText(/compute-share/)
      .first()
      .waitFor();
    expect(await workflows.get(id)).toMatchObject({ status: 'Suspended', version: 1 });
    await panel(page)
      .getByLabel(/^Version 2 has no step divide/)
      .selectOption('compute-share');
    await foresees(page, {
      Started: 'nothing',
      Version: '1 → 2',
      'Outside calls that happen again': 'none',
    });
    await apply(page, 'version 2 divides by persons');
    await endsAsShown(title, id);
    expect(await activities.pull('approve-costs', { waitSeconds: 0 })).toBeNull();
  });

  test('covers every walk-through of the document', () => {
    expect([...WALKTHROUGHS.keys()]).toEqual(Object.values(TITLES));
  });
});
