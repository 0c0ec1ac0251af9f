/** Goal: events, work items, scripts and nodes can be viewed and, except for nodes, changed. */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';

const HOSTILE = '<img src=x onerror="alert(1)">/%2F"';

describe.runIf(browserPath !== null)('the operations page', () => {
  let waiting = '';
  const pages = usePages({
    seed: async (client) => {
      await client.steps.put('quote', 'price = 3\n');
      await client.steps.put('quote', 'price = 4\n');
      await client.definitions.register({
        id: 'both',
        steps: [
          {
            id: 'all',
            stepType: 'Parallel',
            do: [
              [
                {
                  id: 'event',
                  stepType: 'WaitFor',
                  inputs: { EventName: '"approved"', EventKey: 'data.key' },
                },
              ],
              [{ id: 'work', stepType: 'Activity', inputs: { ActivityName: 'data.activity' } }],
            ],
          },
        ],
      });
      const activity = HOSTILE;
      waiting = (await client.workflows.start('both', { key: 'k-1', activity })).id;
      await client.workflows.start('both', { key: 'k-2', activity: 'charge' });
      await client.events.publish(HOSTILE, HOSTILE, { [HOSTILE]: HOSTILE });
    },
  });

  test('publishes an event to the run that is waiting for it', async () => {
    const page = await pages.open('/events?name=approved&key=k-1');
    await page.getByRole('link', { name: waiting }).waitFor();
    await page.getByRole('button', { name: 'Publish an event' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Data (any JSON value)').fill('{"by": ');
    await dialog.getByText('Not valid JSON').waitFor();
    expect(await dialog.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Data (any JSON value)').fill('{"by": "Ada"}');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published. 1 waiting run got the event.').waitFor();
    await page.getByText('No run is waiting for this event.').waitFor();
    const table = page.getByRole('table', { name: 'Events' });
    await table.getByRole('link', { name: waiting }).waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('link', { name: `${HOSTILE} / ${HOSTILE}` }).click();
    await page.getByText('No run is waiting for this event.').waitFor();
    await expect.poll(() => table.locator('tbody tr').count()).toBe(1);
  });

  test('shows queues without an idle worker, and who holds a work item', async () => {
    const page = await pages.open('/activities');
    const row = page.getByRole('row', { name: /charge/ });
    await row.getByText('no idle worker').waitFor();
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
    await page.getByText('waiting', { exact: true }).waitFor();
    await page.goto(`${pages.server.url}/ui/activities/charge`);
    await page.getByText('waiting', { exact: true }).waitFor();
    await pages.client.activities.pull('charge', { workerId: '<w>', leaseSeconds: 500 });
    await page.getByText('<w>').waitFor();
    await page.getByText('held', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Complete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('{"receipt": ');
    await dialog.getByText('Not valid JSON').waitFor();
    expect(await dialog.getByRole('button', { name: 'Complete' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('{"receipt": "r-1"}');
    await dialog.getByRole('button', { name: 'Complete' }).click();
    await page.getByText('The work item was completed.').waitFor();
    await page.getByText('This queue has no work items.').waitFor();
    await page.goto(`${pages.server.url}/ui/activities/${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('button', { name: 'Fail' }).click();
    await dialog.getByRole('button', { name: 'Fail' }).click();
    await page.getByText('The work item was failed.').waitFor();
    await expect
      .poll(async () => (await pages.client.workflows.get(waiting)).lastError?.data)
      .toBe('failed by an operator');
  });

  test('compares a script with an earlier version, marks its errors, and publishes the next version', async () => {
    const page = await pages.open('/steps');
    await page.getByRole('link', { name: 'quote' }).click();
    await page.locator('.cm-line', { hasText: 'price = 4' }).waitFor();
    await page.getByLabel('Compare with').selectOption('1');
    await page.locator('.cm-deletedChunk', { hasText: 'price = 3' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    const editor = page.getByRole('textbox', { name: 'Script' });
    pages.expectBrowserError(/400 .*\/api\/step\/quote/);
    await pasteText(editor, 'price = (\n');
    await page.getByRole('button', { name: 'Publish version 3' }).click();
    await page.getByRole('alert').getByText('Python syntax error').waitFor();
    await page.locator('.cm-lint-marker-error').waitFor();
    await pasteText(editor, 'price = 5\n');
    await page.getByRole('button', { name: 'Publish version 3' }).click();
    await page.getByText('Published quote as version 3.').waitFor();
    await page.locator('.cm-line', { hasText: 'price = 5' }).waitFor();
    expect(await pages.client.steps.get('quote')).toBe('price = 5\n');
  });

  test('publishes a script with an import that will fail, and marks its position', async () => {
    const page = await pages.open('/new-step');
    await page.getByLabel('Name (StepType in definitions)').fill('lookup');
    const editor = page.getByRole('textbox', { name: 'Script' });
    await editor.waitFor();
    await pasteText(editor, 'import json\nimport jsn, requests\n');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const warnings = page.getByRole('list', { name: 'Warnings' }).getByRole('listitem');
    await expect.poll(() => warnings.count()).toBe(2);
    expect(await warnings.first().textContent()).toContain('line 2, column 8');
    expect(await warnings.first().textContent()).toContain('Did you mean "json"?');
    expect(await warnings.last().textContent()).toContain('HttpRequest step');
    await page.locator('.cm-lint-marker-warning').waitFor();
    await page.getByRole('button', { name: 'Keep this version' }).click();
    await page.getByRole('heading', { name: 'lookup', level: 1 }).waitFor();
  });

  test('publishes a new step, and opens its page', async () => {
    const page = await pages.open('/new-step');
    await page.getByLabel('Name (StepType in definitions)').fill('add & <b>');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('heading', { name: 'add & <b>', level: 1 }).waitFor();
    await page.locator('.cm-line', { hasText: 'total = a + b' }).waitFor();
  });

  test('shows the state, load, store and backplane of the node that serves it', async () => {
    const page = await pages.open('/nodes');
    const row = page.getByRole('row', { name: /this node/ });
    await row.getByText('alive').waitFor();
    await row.getByText(/\d+% CPU, \d+ MiB/).waitFor();
    await row.getByText('sqlite').waitFor();
    await row.getByText(/backplane/).waitFor();
  });

  test('says so if there is nothing to show', async () => {
    const page = await pages.open('/activities/none');
    await page.getByText('This queue has no work items.').waitFor();
    await page.goto(`${pages.server.url}/ui/events?name=a&key=b`);
    await page.getByText('No event with this name and key has been published.').waitFor();
  });
});
