/** Goal: the log of a run shows what its EmitLog steps have logged, in pages, and while the run goes on. */
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const LINES = 60;
const CHATTY = `
Id: chatty
Steps:
  - Id: long
    StepType: EmitLog
    Inputs:
      Message: '"x" * 5000'
    NextStepId: each
  - Id: each
    StepType: Foreach
    Inputs:
      Collection: list(range(${LINES}))
      RunParallel: false
    Do:
      - - Id: tell
          Name: Tell
          StepType: EmitLog
          Inputs:
            Message: '"line " + str(context.Item)'
            Level: '"warning"'
    NextStepId: quiet
  - Id: quiet
    StepType: EmitLog
    Inputs:
      Message: '"nobody reads this"'
      Level: '"None"'
    NextStepId: wait
  - Id: wait
    StepType: WaitFor
    Inputs:
      EventName: '"go"'
      EventKey: '"on"'
    NextStepId: last
  - Id: last
    StepType: EmitLog
    Inputs:
      Message:
        '@text': '"<img src=x>"'
      Level: 4
`;

describe.runIf(browserPath !== null)('the log of a run', () => {
  const pages = usePages({
    seed: async ({ definitions }) => {
      await definitions.register(CHATTY);
      await definitions.register({ id: 'silent', steps: [{ id: 'a', stepType: 'NoOp' }] });
    },
  });

  test('shows time, level, step and message, and new lines while the run continues', async () => {
    const handle = await pages.client.workflows.start('chatty');
    const page = await pages.open(`/runs/${handle.id}`);
    await page.getByRole('tab', { name: 'Log' }).click();
    const log = page.getByRole('table', { name: 'Log, newest first' });
    const newest = log.locator('tbody tr').first();
    await newest.getByText(`line ${LINES - 1}`).waitFor();
    await newest.getByText('Warning').waitFor();
    await newest.getByText('Tell').waitFor();
    expect(await log.locator('tbody tr').count()).toBe(LINES + 1);
    const oldest = log.locator('tbody tr').last();
    await oldest.getByText('too long to be kept: see the log of the server').waitFor();
    expect(await log.getByText('nobody reads this').count()).toBe(0);
    const step = page.getByRole('combobox', { name: 'Step' });
    await step.selectOption('long · EmitLog');
    await expect.poll(() => log.locator('tbody tr').count()).toBe(1);
    expect(new URL(page.url()).search).toBe('?tab=log&step=long');
    await step.selectOption('last · EmitLog');
    await page.getByText('This EmitLog step has not completed yet.').waitFor();
    await step.selectOption('any');
    await expect.poll(() => log.locator('tbody tr').count()).toBe(LINES + 1);
    await pages.client.events.publish('go', 'on', null);
    await newest.getByText('Error').waitFor();
    await newest.locator('summary').click();
    await newest.getByText('"<img src=x>"').waitFor();
    expect(await log.locator('tbody tr').count()).toBe(LINES + 2);
    expect(await seriousProblems(page)).toEqual([]);
  });

  test('says that a definition has no EmitLog step', async () => {
    const { id } = await pages.client.workflows.start('silent');
    const page = await pages.open(`/runs/${id}?tab=log`);
    await page.getByText('This definition has no EmitLog step.').waitFor();
  });
});
