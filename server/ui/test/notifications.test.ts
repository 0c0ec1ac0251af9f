/** Goal: operators set up notifications, see what became of each message, and send it again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHmac } from 'node:crypto';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { startReceiver, type Receiver } from './support/receiver.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const HOSTILE = '<b>"%2F';

describe.runIf(browserPath !== null)('the page of notifications', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.stop());
  const pages = usePages({
    seed: async ({ definitions }) => {
      await definitions.register({ id: 'order', steps: [{ id: 'end', stepType: 'NoOp' }] });
    },
  });

  test('creates a notification whose messages are signed with the shown secret', async () => {
    receiver.answer(204);
    const page = await pages.open('/notifications');
    await page.getByText('There are no notifications.').waitFor();
    await page.getByRole('button', { name: 'New notification' }).click();
    const dialog = page.getByRole('dialog', { name: 'New notification' });
    await dialog.getByLabel('Name').fill(HOSTILE);
    await dialog.getByLabel(/^Target/).fill('ftp://nowhere');
    await dialog.getByLabel('failed (ended by an error)').uncheck();
    expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await dialog.getByLabel('completed').check();
    await dialog.getByLabel(/^Definition/).fill('order');
    await dialog.getByRole('button', { name: 'Generate' }).click();
    const secret = await dialog.getByLabel(/^Secret/).inputValue();
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    pages.expectBrowserError(/400/);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/url must be an address/).waitFor();
    await dialog.getByLabel(/^Target/).fill(receiver.url);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
    const { id } = await pages.client.workflows.start('order');
    const row = page.getByRole('row', { name: /workflow\.completed/ });
    await row.getByText('delivered').waitFor();
    await row.getByRole('link', { name: id }).waitFor();
    const { body, headers } = receiver.received.at(-1)!;
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(signed).digest('base64');
    expect(headers['webhook-signature']).toContain(`v1,${signature}`);
  });

  test('sends a test and shows the answer, and redelivers failed messages', async () => {
    await pages.client.notifications.put('audit', {
      url: receiver.url,
      on: ['completed'],
      secret: SECRET,
    });
    receiver.answer(503, 'try <i>later</i>');
    const page = await pages.open('/notifications/audit');
    await page.getByText('There are no deliveries yet.').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    const test = page.locator('.notification-test');
    await test.getByText('503').waitFor();
    const row = page.getByRole('row', { name: /workflow\.test/ });
    await row.getByText('failed').waitFor();
    await row.getByText('Answer', { exact: true }).click();
    await row.getByText('try <i>later</i>').waitFor();
    const [failed] = receiver.received.slice(-1);
    receiver.answer(200, 'thanks');
    await row.getByRole('button', { name: 'Redeliver' }).click();
    await row.getByText('delivered').waitFor();
    expect(receiver.received.at(-1)!.headers['webhook-id']).toBe(failed!.headers['webhook-id']);
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await page.getByText('No delivery is failed.').waitFor();
    expect(page.url()).toMatch(/\?state=failed$/);
  });

  test('pauses, resumes, changes and deletes a notification', async () => {
    await pages.client.notifications.put('billing', {
      url: receiver.url,
      on: ['failed', 'suspended'],
      where: ['tag.team=sales', 'tag.env=prod'],
      secret: SECRET,
    });
    const page = await pages.open('/notifications/billing');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    expect(await pages.client.notifications.get('billing')).toMatchObject({ paused: true });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit billing' });
    await dialog.getByLabel(/^Conditions/).fill('tag.team=support\n');
    await dialog.getByLabel('Messages contain the data of the run').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('a summary and the data').waitFor();
    expect(await pages.client.notifications.get('billing')).toMatchObject({
      on: ['failed', 'suspended'],
      where: ['tag.team=support'],
      include: 'data',
    });
    await page.getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('dialog', { name: 'Delete billing?' });
    // Enter must do no harm.
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete' }).click();
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('billing was deleted.').waitFor();
    expect(await page.getByRole('link', { name: 'billing' }).count()).toBe(0);
    const names = (await pages.client.notifications.list()).map(({ name }) => name);
    expect(names).not.toContain('billing');
  });
});

describe.runIf(browserPath !== null)('a viewer', () => {
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
    seed: async ({ notifications }) => {
      await notifications.put('audit', {
        url: 'http://127.0.0.1:9/',
        on: ['failed'],
        secret: SECRET,
      });
    },
  });

  test('sees the deliveries, and learns the scope that the settings need', async () => {
    pages.expectBrowserError(/40[13]/);
    const page = await pages.open('/notifications/audit');
    await page.getByLabel('Bearer token').fill(makeToken('ada', 'conductor:viewer'));
    await page.getByLabel('Bearer token').press('Enter');
    await page.getByText('There are no deliveries yet.').waitFor();
    await page
      .getByRole('alert')
      .getByText(/conductor:author/)
      .waitFor();
  });
});
