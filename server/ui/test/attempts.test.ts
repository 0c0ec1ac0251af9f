/** Goal: two attempts of a step are compared with two clicks, and each execution can be seen and copied as raw JSON. */
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const FLAKY = `
Id: flaky
Steps:
  - Id: reserve
    StepType: Activity
    ErrorBehavior: Suspend
    Inputs:
      ActivityName: '"reserve"'
      Parameters:
        '@attempt': context.Step.Attempt
        '@warehouse': '"north"'
    Outputs:
      reserved: step.Result["text"]
    NextStepId: done
  - Id: done
    StepType: NoOp
`;
/** Longer than what the tree shows at first, and short enough to be kept. */
const LONG = 'long '.repeat(500);

describe.runIf(browserPath !== null)('the attempts of a step', () => {
  let run = '';
  const pages = usePages({
    seed: async ({ activities, definitions, workflows }) => {
      await definitions.register(FLAKY);
      const handle = await workflows.start('flaky');
      run = handle.id;
      const reaches = (status: string) =>
        eventually(`the run is ${status}`, async () => (await handle.get()).status === status);
      const pull = async () => {
        const item = await activities.pull('reserve', { workerId: 'one', waitSeconds: 30 });
        if (item === null) throw new Error('The activity was not offered');
        return item;
      };
      for (const message of ['nothing left', 'the shelf is locked']) {
        const { token } = await pull();
        await activities.fail(token, { message });
        await reaches('Suspended');
        await handle.resume();
      }
      const { token } = await pull();
      await activities.succeed(token, { text: LONG });
      await reaches('Complete');
    },
  });

  test('compares two attempts with two clicks, and any other two after that', async () => {
    const page = await pages.open(`/runs/${run}`, { viewport: { width: 1440, height: 900 } });
    await page.getByRole('tab', { name: 'Steps' }).click();
    const last = page.locator('.step-rows > li', { hasText: 'attempt 3' });
    await last.getByRole('button', { name: 'Compare attempts' }).click();
    const facts = last.locator('.attempt-facts');
    await facts.getByRole('columnheader', { name: 'Attempt 2' }).waitFor();
    const row = (name: string) => facts.getByRole('row', { name: new RegExp(`^${name}`) });
    expect(await row('Status').innerText()).toMatch(/Failed\s+Complete/);
    for (const part of ['Inputs', 'Outputs', 'Error']) {
      expect(await row(part).getAttribute('class')).toBe('differs');
    }
    await last.getByText('the shelf is locked').first().waitFor();
    await last.getByText('so the run keeps its inputs and its error, but no outputs').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await last.getByLabel('Attempt on the right').selectOption('1');
    await last.getByText('nothing left').first().waitFor();
    expect(await row('Status').getAttribute('class')).toBeNull();
    await expect.poll(() => row('Outputs').innerText()).toMatch(/the same/);
  });

  test('offers no comparison for a step with one attempt', async () => {
    const page = await pages.open(`/runs/${run}?tab=steps&step=done`);
    await page.locator('.step-rows > li').first().waitFor();
    expect(await page.getByRole('button', { name: 'Compare attempts' }).count()).toBe(0);
  });

  test('shows an execution as complete raw JSON, and copies it', async () => {
    const page = await pages.open(`/runs/${run}?tab=steps`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const last = page.locator('.step-rows > li', { hasText: 'attempt 3' });
    await last.locator('summary').first().click();
    await last.getByText(`Show all ${LONG.length} characters`).waitFor();
    await last.getByRole('button', { name: 'Show raw JSON' }).click();
    const raw = last.getByLabel('Raw JSON of the execution', { exact: true });
    const shown: unknown = JSON.parse((await raw.textContent()) ?? '');
    expect(shown).toMatchObject({ attempt: 3, outputs: { reserved: LONG } });
    await last.getByRole('button', { name: 'Copy the raw JSON of the execution' }).click();
    const copied: unknown = await page
      .evaluate(() => navigator.clipboard.readText())
      .then(JSON.parse);
    expect(copied).toEqual(shown);
    await last.getByRole('button', { name: 'Show as a tree' }).click();
    await raw.waitFor({ state: 'detached' });
  });
});
