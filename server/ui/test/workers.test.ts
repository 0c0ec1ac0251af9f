/** Goal: operators see who works, what each worker holds, and which queues nobody asks for. */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const HOSTILE = '<img src=x>/%2F"';
const REFERENCE = '<b>order</b> 4711';

describe.runIf(browserPath !== null)('the page of workers', () => {
  let held = '';
  const pages = usePages({
    seed: async ({ activities, definitions, workflows }) => {
      const steps = (name: string) => [
        { id: 'a', stepType: 'Activity', inputs: { ActivityName: JSON.stringify(name) } },
      ];
      await definitions.register({ id: 'charge', steps: steps('charge-card') });
      await definitions.register({ id: 'ship', steps: steps('ship-it') });
      held = (await workflows.start('charge', {}, { reference: REFERENCE })).id;
      await workflows.start('ship');
      const worker = { workerId: HOSTILE, host: 'till-1', version: '2.4.1' };
      await activities.pull('charge-card', { ...worker, waitSeconds: 20, leaseSeconds: 500 });
      await activities.pull('nothing', { workerId: 'idle-one' });
    },
  });

  test('lists busy and idle workers, and marks the queue without a worker', async () => {
    const page = await pages.open('/workers');
    const busy = page.getByRole('row', { name: new RegExp('till-1') });
    await busy.getByText('busy').waitFor();
    await busy.getByText('version 2.4.1').waitFor();
    await busy.getByRole('link', { name: held }).waitFor();
    await page
      .getByRole('row', { name: /idle-one/ })
      .getByText('not polling')
      .waitFor();
    const unattended = page.getByRole('region', { name: 'Queues without an idle worker' });
    await unattended.getByText('1 waiting').waitFor();
    await unattended.getByText('no idle worker; never polled').waitFor();
    expect(await unattended.getByRole('link').allTextContents()).toEqual(['ship-it']);
  });

  test('leads from an item to its worker and back with one click each', async () => {
    const page = await pages.open('/activities/charge-card');
    await page
      .getByRole('table', { name: 'Work items' })
      .getByRole('link', { name: 'charge', exact: true })
      .waitFor();
    await page.getByRole('cell', { name: REFERENCE, exact: true }).first().waitFor();
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
    const items = page.getByRole('table', { name: 'Held work items' });
    await items.getByRole('cell', { name: REFERENCE, exact: true }).waitFor();
    await items.getByRole('link', { name: 'charge', exact: true }).waitFor();
    await items.getByRole('link', { name: held }).waitFor();
    await items.getByRole('link', { name: 'charge-card' }).click();
    await page.getByRole('heading', { name: 'charge-card', level: 1 }).waitFor();
  });

  test('shows a waiting worker, and says that no worker has an unknown id', async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const poll = pages.client.activities
      .pull('nothing', { workerId: 'late', waitSeconds: 60, signal })
      .catch(() => undefined);
    await expect
      .poll(async () => (await pages.client.workers.list({ workerId: 'late' })).count)
      .toBe(1);
    const page = await pages.open('/workers/late');
    await page.getByText('waiting for work').waitFor();
    stop.abort();
    await poll;
    const unknown = await pages.open('/workers/nobody');
    await unknown.getByText('No worker has this id.').waitFor();
  });
});
