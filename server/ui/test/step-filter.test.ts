/**
 * Goal: the steps of a run, however long, can be filtered by status, step, item, turn and text, with the mouse or the
 * keyboard. The filter is part of the address, and the server does the search.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { allProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const TURNS = 2500;
const ITEMS = 4;
const LONG = `
Id: long
Steps:
  - Id: loop
    StepType: While
    Inputs:
      Condition: data.n < ${TURNS}
    Do:
      - - Id: count
          StepType: NoOp
          Outputs:
            n: data.n + 1
          NextStepId: rest
        - Id: rest
          StepType: NoOp
    NextStepId: each
  - Id: each
    StepType: Foreach
    Inputs:
      Collection: '["red", "green", "blue", "Ultramarine"]'
    Do:
      - - Id: paint
          Name: Paint it
          StepType: NoOp
    NextStepId: break
  - Id: break
    StepType: NoOp
    ErrorBehavior: Suspend
    Outputs:
      never: data["missing"]
`;
const TWO_LOOPS = `
Id: two-loops
Steps:
  - Id: first
    StepType: While
    Inputs:
      Condition: data.n < 2
    Do:
      - - Id: add
          StepType: NoOp
          Outputs:
            n: data.n + 1
    NextStepId: second
  - Id: second
    StepType: While
    Inputs:
      Condition: data.n < 5
    Do:
      - - Id: add-more
          StepType: NoOp
          Outputs:
            n: data.n + 1
`;

describe.runIf(browserPath !== null)('the filter of the steps of a run', () => {
  let long = '';
  let twoLoops = '';
  const pages = usePages({
    seed: async ({ definitions, workflows }) => {
      await definitions.register(LONG);
      await definitions.register(TWO_LOOPS);
      long = (await workflows.start('long', { n: 0 })).id;
      twoLoops = (await workflows.start('two-loops', { n: 0 })).id;
      await eventually(
        'the long run has come to its last step',
        async () => (await workflows.get(long)).status === 'Suspended',
      );
      await workflows.wait(twoLoops);
    },
  });

  const openSteps = async (id: string, query = '', width = 1280): Promise<Page> => {
    const options = { viewport: { width, height: 800 } };
    const page = await pages.open(`/runs/${id}?tab=steps${query}`, options);
    await page.getByText('Live', { exact: true }).waitFor();
    return page;
  };
  const filter = (page: Page) => page.getByRole('group', { name: 'Filter steps' });
  const rows = (page: Page) => page.locator('.step-rows > li');
  const enter = async (page: Page, label: string, text: string): Promise<void> => {
    const field = filter(page).getByLabel(label, { exact: true });
    await field.fill(text);
    await field.press('Enter');
  };
  const says = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();
  const addressOf = (page: Page): Record<string, string> =>
    Object.fromEntries(new URL(page.url()).searchParams);

  test('jumps to a turn of a long loop, and to the turns beside it', async () => {
    const page = await openSteps(long);
    await rows(page).first().waitFor();
    await enter(page, 'Turn', '2345');
    await says(page, '2 executions match.');
    // The only loop of the definition is the one to count in.
    expect(addressOf(page)).toEqual({ tab: 'steps', step: 'loop', turn: '2345' });
    expect(
      await filter(page).getByRole('combobox', { name: 'Step', exact: true }).inputValue(),
    ).toBe('loop');
    expect(await filter(page).getByLabel('Order').isDisabled()).toBe(true);
    await rows(page).first().locator('summary').first().click();
    await rows(page).first().getByText('2345', { exact: true }).waitFor();
    const next = page.waitForResponse(/turn=2346/);
    await filter(page).getByRole('button', { name: 'Next turn' }).click();
    await next;
    await page.getByText('Searching …').waitFor({ state: 'detached' });
    await rows(page).first().locator('summary').first().click();
    await rows(page).first().getByText('2346', { exact: true }).waitFor();
    await filter(page).getByRole('button', { name: 'Previous turn' }).click();
    await expect.poll(() => addressOf(page)['turn']).toBe('2345');
    await enter(page, 'Turn', String(TURNS + 1));
    await page.getByText(`loop has no turn ${TURNS + 1}.`).waitFor();
  });

  test('searches a long run on the server, and never reads the whole run', async () => {
    const page = await openSteps(long);
    await expect.poll(() => rows(page).count()).toBe(50);
    const calls: URLSearchParams[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === `/api/workflow/${long}/steps`) calls.push(searchParams);
    });
    await enter(page, 'Text', '1234');
    await says(page, '1 execution matches.');
    expect(await rows(page).first().textContent()).toContain('count');
    // 5,000 executions, of which the server searches 2,000 for each call.
    expect(calls.length).toBe(3);
    for (const call of calls) {
      expect(call.get('search')).toBe('1234');
      expect(Number(call.get('limit'))).toBeLessThanOrEqual(50);
    }
  });

  test('filters by status, step, item and text, all of which must match', async () => {
    const page = await openSteps(long);
    const step = filter(page).getByRole('combobox', { name: 'Step', exact: true });
    const status = filter(page).getByLabel('Status');
    await status.selectOption('Failed');
    await says(page, '1 execution matches.');
    expect(await rows(page).first().textContent()).toContain('break');
    await status.selectOption('Completed');
    await step.selectOption('Paint it · paint · NoOp');
    await says(page, `${ITEMS} executions match.`);
    await enter(page, 'Item', '3');
    await says(page, '1 execution matches.');
    await rows(page).first().getByText('item 3').waitFor();
    // In any casing.
    await enter(page, 'Text', 'ULTRA');
    await expect
      .poll(() => addressOf(page))
      .toEqual({ tab: 'steps', step: 'paint', status: 'Complete', item: '3', search: 'ULTRA' });
    await says(page, '1 execution matches.');
    await page.reload();
    await says(page, '1 execution matches.');
    expect(await filter(page).getByLabel('Text').inputValue()).toBe('ULTRA');
    await page.goBack();
    await expect.poll(() => filter(page).getByLabel('Text').inputValue()).toBe('');
    await filter(page).getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rows(page).count()).toBe(50);
    expect(addressOf(page)).toEqual({ tab: 'steps' });
  });

  test('says that nothing matches, and clears the filter', async () => {
    const page = await openSteps(long, '&status=Cancelled&search=nowhere');
    await page.getByText('No execution matches the filter.').waitFor();
    await page.getByRole('button', { name: 'Show all steps' }).click();
    await expect.poll(() => rows(page).count()).toBe(50);
  });

  test('prompts for the step whose turns count if there is a choice', async () => {
    const page = await openSteps(twoLoops);
    await enter(page, 'Turn', '2');
    await says(page, 'Choose the step whose turns to count: a While or a Recur.');
    await filter(page)
      .getByRole('combobox', { name: 'Step', exact: true })
      .selectOption('second · While');
    await says(page, '1 execution matches.');
    await rows(page).first().locator('summary').first().click();
    await rows(page).first().getByText('4', { exact: true }).waitFor();
    const other = await openSteps(long, '&step=each&turn=1');
    await says(other, 'each is a Foreach, which has no turns: enter the number of the item');
  });

  test("marks an impossible number, and shows the server's error about an address", async () => {
    const page = await openSteps(long);
    await rows(page).first().waitFor();
    await enter(page, 'Item', 'three');
    const item = filter(page).getByLabel('Item');
    expect(await item.getAttribute('aria-invalid')).toBe('true');
    expect(addressOf(page)).toEqual({ tab: 'steps' });
    pages.expectBrowserError(/400/);
    const wrong = await openSteps(long, '&status=Lost&item=x');
    await wrong.getByText('item must be a whole number').waitFor();
    await filter(wrong).getByRole('button', { name: 'Clear' }).click();
    await rows(wrong).first().waitFor();
  });

  test('works with the keyboard alone', async () => {
    const page = await openSteps(long);
    await rows(page).first().waitFor();
    await page.getByRole('tab', { name: 'Steps' }).focus();
    const focusedLabel = (): Promise<string> =>
      page.evaluate(() => document.activeElement?.closest('label')?.textContent ?? '');
    const tabTo = async (label: string): Promise<void> => {
      for (let presses = 0; presses < 20; presses += 1) {
        await page.keyboard.press('Tab');
        if ((await focusedLabel()).startsWith(label)) return;
      }
      throw new Error(`Tab does not come to ${label}`);
    };
    await tabTo('Status');
    await page.keyboard.type('Fail');
    await says(page, '1 execution matches.');
    await tabTo('Text');
    await page.keyboard.type('missing');
    await page.keyboard.press('Enter');
    await expect.poll(() => addressOf(page)['search']).toBe('missing');
    await says(page, '1 execution matches.');
  });

  test('folds on a phone, and has no problem according to axe', async () => {
    const page = await openSteps(long, '&step=loop&turn=7', 390);
    await says(page, '2 executions match.');
    expect(await filter(page).getByLabel('Status').isVisible()).toBe(false);
    await filter(page).getByRole('button', { name: 'Filters (2)' }).click();
    await filter(page).getByLabel('Status').waitFor();
    expect(await allProblems(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});
