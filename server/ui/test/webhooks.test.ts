/** Goal: operators set up the addresses that other systems call. */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const NAME = 'paid_2.0';

describe.runIf(browserPath !== null)('the page of webhooks', () => {
  const pages = usePages({
    seed: async ({ definitions }) => {
      await definitions.register({ id: 'order', steps: [{ id: 'end', stepType: 'NoOp' }] });
    },
  });

  test('creates a webhook that starts a run for each signed call', async () => {
    const page = await pages.open('/webhooks');
    await page.getByText('There are no webhooks.').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'New webhook' });
    await dialog.getByLabel('Name').fill('shop');
    await dialog.getByLabel('Signed as').selectOption('GitHub');
    await dialog.getByRole('button', { name: 'Generate' }).click();
    const secret = await dialog.getByLabel(/^Secret/).inputValue();
    await dialog.getByLabel('Definition').fill('order');
    await dialog.getByLabel(/^Reference/).fill('hook.body[');
    pages.expectBrowserError(/400/);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel(/^Reference/).fill('hook.body["id"]');
    await dialog.getByLabel(/^Data/).fill('{ "@sum": "hook.body[\'sum\']" }');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('shop is called at /hooks/shop.').waitFor();
    await page.getByRole('row', { name: /shop.*GitHub.*starts order/ }).waitFor();
    const body = '{"id":"o-1","sum":12}';
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const called = await fetch(`${pages.server.url}/hooks/shop`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-GitHub-Delivery': 'delivery-1',
        'X-Hub-Signature-256': `sha256=${signature}`,
      },
      body,
    });
    expect(called.status).toBe(202);
    const { id } = (await called.json()) as { readonly id: string };
    expect(await pages.client.workflows.get(id)).toMatchObject({
      reference: 'o-1',
      data: { sum: 12 },
    });
  });

  test('changes and deletes a webhook, and shows its members as they are', async () => {
    const publish = { name: "'<i>paid'", key: 'hook.body["id"]', data: 'hook.body["order"]' };
    const settings = {
      scheme: 'hmac',
      header: 'X-Sig',
      secret: 'a long secret text',
      publish,
    } as const;
    await pages.client.webhooks.put(NAME, settings);
    const page = await pages.open('/webhooks');
    const row = page.getByRole('row').filter({ hasText: NAME });
    await row.getByText("publishes '<i>paid'").waitFor();
    await row.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: `Edit ${NAME}` });
    expect(await dialog.getByLabel('Header with the signature').inputValue()).toBe('X-Sig');
    expect(await dialog.getByLabel(/^Data/).inputValue()).toBe('hook.body["order"]');
    await dialog.getByLabel('Encoding').selectOption('Base64');
    await dialog.getByLabel(/^Event name/).fill("'refunded'");
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText("publishes 'refunded'").waitFor();
    expect(await pages.client.webhooks.get(NAME)).toMatchObject({
      encoding: 'base64',
      header: 'X-Sig',
      publish: { ...publish, name: "'refunded'" },
    });
    await row.getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('dialog', { name: `Delete ${NAME}?` });
    await question.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    const names = (await pages.client.webhooks.list()).map(({ name }) => name);
    expect(names).not.toContain(NAME);
  });
});
