/** Goal: what waits for events and workers, which scripts there are and which nodes run can be seen and changed. */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';

const HOSTILE = '<img src=x onerror="alert(1)">/%2F"';

describe.runIf(browserPath !== null)('the pages of events, activities, steps and nodes', () => {
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

  test('an event is published from the form to the run that waits for it', async () => {
    const page = await pages.open('/events?name=approved&key=k-1');
    await page.getByRole('link', { name: waiting }).waitFor();
    await page.getByRole('button', { name: 'Publish an event' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Data, any JSON value').fill('{"by": ');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByText('This is not JSON').waitFor();
    await dialog.getByLabel('Data, any JSON value').fill('{"by": "Ada"}');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published; 1 waiting run got it').waitFor();
    await page.getByText('No run waits for this event now.').waitFor();
    const table = page.getByRole('table', { name: 'Events' });
    await table.getByRole('link', { name: waiting }).waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('link', { name: `${HOSTILE} / ${HOSTILE}` }).click();
    await page.getByText('No run waits for this event now.').waitFor();
    await expect.poll(() => table.locator('tbody tr').count()).toBe(1);
  });

  test('queues tell that nobody asks for their work, and who holds it', async () => {
    const page = await pages.open('/activities');
    const row = page.getByRole('row', { name: /charge/ });
    await row.getByText('nobody asks for it').waitFor();
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
    await dialog.getByRole('button', { name: 'Complete' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('textbox').fill('{"receipt": "r-1"}');
    await dialog.getByRole('button', { name: 'Complete' }).click();
    await page.getByText('The work was completed').waitFor();
    await page.getByText('No work of this name is waiting.').waitFor();
    await page.goto(`${pages.server.url}/ui/activities/${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('button', { name: 'Fail' }).click();
    await dialog.getByRole('button', { name: 'Fail it' }).click();
    await page.getByText('The work was failed').waitFor();
    await expect
      .poll(async () => (await pages.client.workflows.get(waiting)).lastError?.data)
      .toBe('failed by an operator');
  });

  test('a script is compared with the one before and gets a next version, mistakes marked', async () => {
    const page = await pages.open('/steps');
    await page.getByRole('link', { name: 'quote' }).click();
    await page.locator('.cm-line', { hasText: 'price = 4' }).waitFor();
    await page.getByLabel('Compare with').selectOption('1');
    await page.locator('.cm-deletedChunk', { hasText: 'price = 3' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    const editor = page.getByRole('textbox', { name: 'Script' });
    pages.expectBrowserError(/400 .*\/api\/step\/quote/);
    await pasteText(editor, 'price = (\n');
    await page.getByRole('button', { name: 'Store as new version' }).click();
    await page.getByRole('alert').getByText('Python syntax error').waitFor();
    await page.locator('.cm-lint-marker-error').waitFor();
    await pasteText(editor, 'price = 5\n');
    await page.getByRole('button', { name: 'Store as new version' }).click();
    await page.getByText('Stored quote as version 3').waitFor();
    await page.locator('.cm-line', { hasText: 'price = 5' }).waitFor();
    expect(await pages.client.steps.get('quote')).toBe('price = 5\n');
  });

  test('a script with an import that cannot work is stored, and its place is marked', async () => {
    const page = await pages.open('/new-step');
    await page.getByLabel('Name, the StepType in definitions').fill('lookup');
    const editor = page.getByRole('textbox', { name: 'Script' });
    await editor.waitFor();
    await pasteText(editor, 'import json\nimport jsn, requests\n');
    await page.getByRole('button', { name: 'Store as new version' }).click();
    const warnings = page.getByRole('list', { name: 'Warnings' }).getByRole('listitem');
    await expect.poll(() => warnings.count()).toBe(2);
    expect(await warnings.first().textContent()).toContain('line 2, column 8');
    expect(await warnings.first().textContent()).toContain('Did you mean "json"?');
    expect(await warnings.last().textContent()).toContain('HttpRequest step');
    await page.locator('.cm-lint-marker-warning').waitFor();
    await page.getByRole('button', { name: 'Leave it as it is' }).click();
    await page.getByRole('heading', { name: 'lookup', level: 1 }).waitFor();
  });

  test('a new step is written, and its page opened', async () => {
    const page = await pages.open('/new-step');
    await page.getByLabel('Name, the StepType in definitions').fill('add & <b>');
    await page.getByRole('button', { name: 'Store as new version' }).click();
    await page.getByRole('heading', { name: 'add & <b>', level: 1 }).waitFor();
    await page.locator('.cm-line', { hasText: 'total = a + b' }).waitFor();
  });

  test('the node that answers is alive, with its load, store and backplane', async () => {
    const page = await pages.open('/nodes');
    const row = page.getByRole('row', { name: /answers you/ });
    await row.getByText('alive').waitFor();
    await row.getByText(/\d+ % CPU, \d+ MiB/).waitFor();
    await row.getByText('sqlite').waitFor();
    await row.getByText(/backplane/).waitFor();
  });

  test('where there is nothing, the page says what to do', async () => {
    const page = await pages.open('/activities/none');
    await page.getByText('No work of this name is waiting.').waitFor();
    await page.goto(`${pages.server.url}/ui/events?name=a&key=b`);
    await page.getByText('No such event was published.').waitFor();
  });
});
