/**
 * Goal: a run can be started with a form made from the schema of its definition, or with JSON or YAML, and what the server
 * refuses is shown at its field.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';

const ORDER = `
Id: order
Description: Adds up an order
Input:
  type: object
  required: [customer, kind, lines]
  properties:
    customer:
      type: string
      title: Customer name
      description: As printed on the invoice
      pattern: ^[A-Z]
    kind: { enum: [retail, wholesale] }
    express: { type: boolean, default: false }
    discount: { type: number, minimum: 0, maximum: 1 }
    number: { type: integer }
    due: { type: string, format: date }
    at: { type: string, format: date-time }
    comment: { type: [string, 'null'] }
    address:
      type: object
      required: [city]
      properties:
        city: { type: string }
        zip: { type: string, maxLength: 5 }
    lines:
      type: array
      minItems: 1
      items:
        type: object
        required: [sku]
        properties:
          sku: { type: string }
          price: { type: number, default: 1.5 }
    either: { oneOf: [{ type: string }, { type: object }] }
Index:
  customer: data.customer
Steps:
  - Id: add
    StepType: NoOp
    Outputs:
      total: sum(line["price"] for line in data.lines)
`;

const PLAIN = `
Id: plain
Steps:
  - Id: wait
    StepType: WaitFor
    Inputs:
      EventName: '"go"'
      EventKey: '"on"'
`;

const ONCE = `
Id: once
Reference: data.order
OnConflict: existing
ConflictScope: Kept
Steps:
  - Id: pay
    StepType: NoOp
`;

describe.runIf(browserPath !== null)('the page that starts a run', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(ORDER);
      await client.definitions.register(PLAIN);
      await client.definitions.register(ONCE);
    },
  });

  const form = (page: Page) => page.locator('form.start-form');
  const start = (page: Page) => page.getByRole('button', { name: 'Start', exact: true }).click();
  /** Waits for the page of the run that was started, and returns the input of the run. */
  const startedInput = async (page: Page): Promise<object> => {
    await page.waitForURL(/\/ui\/runs\/[^/]+$/);
    return await pages.client.workflows.input(new URL(page.url()).pathname.split('/').at(-1)!);
  };
  const fillOrder = async (page: Page): Promise<void> => {
    await form(page).getByLabel('Customer name').fill('Ada');
    await form(page).getByLabel('kind').selectOption('wholesale');
    await form(page).getByRole('button', { name: 'Add to lines' }).click();
    await form(page).getByLabel('sku').fill('tea');
  };

  test('has a field for each member of the schema, filled with its default', async () => {
    const page = await pages.open('/definitions/order');
    await page.getByRole('link', { name: 'Start a run' }).click();
    await page.getByText('As printed on the invoice').waitFor();
    expect(await form(page).getByLabel('express').inputValue()).toBe('1');
    await form(page).getByText('0 to 1', { exact: true }).waitFor();
    await form(page).getByText('default: false').waitFor();
    expect(await form(page).getByLabel('Customer name').getAttribute('aria-required')).toBe('true');
    expect(await form(page).getByLabel('due').getAttribute('type')).toBe('date');
    expect(await form(page).getByLabel('number').getAttribute('inputmode')).toBe('numeric');
    await fillOrder(page);
    expect(await form(page).getByLabel('price').inputValue()).toBe('1.5');
    await form(page).getByLabel('number').fill('12345678901234567890');
    await form(page).getByLabel('due').fill('2030-02-01');
    await form(page).getByLabel('at', { exact: true }).fill('2030-02-01T10:00:05');
    await form(page).getByLabel('comment is null').check();
    await form(page).getByRole('button', { name: 'Add address' }).click();
    await form(page).getByLabel('city').fill('Bern');
    await form(page).getByLabel('either').fill('{"a": [1.0]}');
    await start(page);
    const at = await page.evaluate(() => new Date('2030-02-01T10:00:05').toISOString());
    expect(await startedInput(page)).toEqual({
      customer: 'Ada',
      kind: 'wholesale',
      express: false,
      number: Number('12345678901234567890'),
      due: '2030-02-01',
      at,
      comment: null,
      address: { city: 'Bern' },
      lines: [{ sku: 'tea', price: 1.5 }],
      either: { a: [1] },
    });
  });

  test("shows the server's refusal at the field that it concerns", async () => {
    pages.expectBrowserError(/400/);
    const page = await pages.open('/definitions/order/start');
    await form(page).getByLabel('Customer name').fill('ada');
    await form(page).getByRole('button', { name: 'Add to lines' }).click();
    await form(page).getByLabel('discount').fill('7');
    await start(page);
    const fieldOf = (label: string) =>
      page.locator('.form-field', { has: page.getByLabel(label, { exact: true }) });
    await fieldOf('Customer name').locator('.form-message').waitFor();
    await fieldOf('discount').locator('.form-message').waitFor();
    await fieldOf('kind').locator('.form-message').waitFor();
    await fieldOf('sku').locator('.form-message').waitFor();
    const customer = form(page).getByLabel('Customer name');
    expect(await customer.getAttribute('aria-invalid')).toBe('true');
    expect(await form(page).getByLabel('express').getAttribute('aria-invalid')).toBe('false');
    await expect
      .poll(() => customer.evaluate((field) => field === document.activeElement))
      .toBe(true);
    await customer.fill('Ada');
    await expect.poll(() => page.locator('.form-message', { hasText: /./ }).count()).toBe(0);
  });

  test('keeps everything between form, JSON and YAML, including unfinished values', async () => {
    const page = await pages.open('/definitions/order/start');
    await fillOrder(page);
    await form(page).getByLabel('discount').fill('0.5e');
    await form(page).getByText('Enter a number, such as 9.5.').waitFor();
    const views = page.getByRole('group', { name: 'Write the data as' });
    expect(await views.getByRole('button', { name: 'YAML' }).isDisabled()).toBe(true);
    await views.getByRole('button', { name: 'JSON' }).click();
    await page.locator('.cm-line', { hasText: '"discount": 0.5e' }).waitFor();
    await page.getByText(/^Not valid JSON/).waitFor();
    expect(await views.getByRole('button', { name: 'Form' }).isDisabled()).toBe(true);
    const editor = page.getByRole('textbox', { name: 'Data as JSON' });
    await pasteText(
      editor,
      '{"customer": "Ada", "kind": 5, "lines": [{"sku": "x"}], "more": {"big": 12345678901234567890}}',
    );
    await views.getByRole('button', { name: 'Form' }).click();
    // The schema has no such value, and no such member.
    expect(await form(page).getByLabel('kind').inputValue()).toBe('5');
    expect(await form(page).getByRole('textbox', { name: 'more' }).inputValue()).toContain(
      '12345678901234567890',
    );
    await form(page).getByLabel('kind').fill('"retail"');
    await views.getByRole('button', { name: 'YAML' }).click();
    await page.locator('.cm-line', { hasText: 'big: 12345678901234567890' }).waitFor();
    await page.locator('.cm-line', { hasText: 'kind: retail' }).waitFor();
  });

  test('sends JSON and YAML for a definition without a schema, and refuses anything but an object', async () => {
    const page = await pages.open('/definitions/plain/start');
    await pasteText(page.getByRole('textbox', { name: 'Data as JSON' }), '[1]');
    await page.getByText('The data must be an object with named members.').waitFor();
    await pasteText(page.getByRole('textbox', { name: 'Data as JSON' }), '{"n": 1}');
    await page.getByRole('button', { name: 'YAML' }).click();
    await pasteText(page.getByRole('textbox', { name: 'Data as YAML' }), 'n: 2\nf: 1.0\n');
    await start(page);
    expect(await startedInput(page)).toEqual({ n: 2, f: 1 });
  });

  test('takes reference, tags, conflict and time', async () => {
    const page = await pages.open('/definitions/plain/start');
    await page.getByLabel(/^Reference/).fill('plain-1');
    await page.getByRole('button', { name: 'Add a tag' }).click();
    await page.getByLabel('Name of tag 1').fill('env');
    await page.getByLabel('Value of tag 1').fill('a:b');
    await page.getByLabel('after a delay').check();
    await page.getByText('Enter a duration').waitFor();
    await page.getByLabel(/^Delay/).fill('48:00:00');
    await start(page);
    await page
      .locator('section.why')
      .getByText(/starts at/)
      .first()
      .waitFor();
    const { items } = await pages.client.workflows.list({ reference: 'plain-1' }).page();
    expect(items).toMatchObject([{ status: 'Runnable', tags: { env: 'a:b' } }]);

    pages.expectBrowserError(/409/);
    await page.goto(`${pages.server.url}/ui/definitions/plain/start`);
    await page.getByLabel(/^If another run/).selectOption('fail');
    await page.getByText('This needs a reference.').waitFor();
    await page.getByLabel(/^Reference/).fill('plain-1');
    await start(page);
    await page.getByRole('alert').getByText('reference_in_use').waitFor();
    await page.getByRole('link', { name: items[0]!.workflowId }).click();
    await page.waitForURL(new RegExp(items[0]!.workflowId));
  });

  test('says that a start joined a run, by the rule of the definition or another one', async () => {
    const first = await pages.client.workflows.run('once', { order: 'A1' });
    const page = await pages.open('/definitions/once/start');
    expect(await page.getByLabel(/^Reference/).getAttribute('placeholder')).toBe('data.order');
    expect(await page.getByLabel(/^If another run/).inputValue()).toBe('existing');
    expect(await page.getByLabel(/^Which other runs/).inputValue()).toBe('kept');
    await page.getByLabel(/^Reference/).fill('A1');
    await page.getByLabel('Stay here and show the result').check();
    await start(page);
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('it was joined, and no run was started').waitFor();
    await result.getByRole('link', { name: first.workflowId }).waitFor();
    await page.getByLabel('Stay here and show the result').uncheck();
    await start(page);
    await page.getByText(`Joined the existing run ${first.workflowId}`).waitFor();
    await page.waitForURL(new RegExp(first.workflowId));

    await page.goto(`${pages.server.url}/ui/definitions/once/start`);
    await page.getByLabel(/^Reference/).fill('A1');
    await page.getByLabel(/^Which other runs/).selectOption('open');
    await start(page);
    await page.waitForURL(
      (url) => !url.pathname.includes(first.workflowId) && url.pathname.includes('/runs/'),
    );
    expect((await pages.client.workflows.list({ reference: 'A1' }).page()).items).toHaveLength(2);
  });

  test('stays to show the result, and starts again with the data and the options of a run', async () => {
    const page = await pages.open('/definitions/order/start');
    await fillOrder(page);
    await page.getByLabel(/^Reference/).fill('again-1');
    await page.getByRole('button', { name: 'Add a tag' }).click();
    await page.getByLabel('Name of tag 1').fill('team');
    await page.getByLabel('Value of tag 1').fill('red');
    await page.getByLabel(/^Priority/).selectOption('2');
    await page.getByLabel(/^Fairness key/).fill('acme');
    await page.getByLabel(/^Weight of the key/).fill('101');
    await page.getByText('Enter a number from 0.01 to 100.').waitFor();
    await page.getByLabel(/^Weight of the key/).fill('2.5');
    await page.getByLabel('Stay here and show the result').check();
    await start(page);
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('Completed').waitFor();
    await result.getByText('total').waitFor();
    await result.getByRole('link').click();
    await page.getByText('acme, weight 2.5').waitFor();
    await page.locator('.menu > summary').click();
    await page.getByRole('link', { name: 'Start again' }).click();
    await expect.poll(() => form(page).getByLabel('sku').inputValue()).toBe('tea');
    expect(await form(page).getByLabel('kind').inputValue()).toBe('1');
    expect(await page.getByLabel(/^Reference/).inputValue()).toBe('again-1');
    expect(await page.getByLabel('Value of tag 1').inputValue()).toBe('red');
    expect(await page.getByLabel(/^Priority/).inputValue()).toBe('2');
    expect(await page.getByLabel(/^Fairness key/).inputValue()).toBe('acme');
    expect(await page.getByLabel(/^Weight of the key/).inputValue()).toBe('2.5');
  });

  test('starts nothing while the definition is disabled', async () => {
    await pages.client.definitions.register(PLAIN.replace('plain', 'off'));
    const page = await pages.open('/definitions/off');
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('New runs cannot be started.').waitFor();
    await page.getByRole('link', { name: 'Start a run' }).click();
    await page.getByText('New runs cannot be started.').waitFor();
    await expect
      .poll(() => page.getByRole('button', { name: 'Start', exact: true }).isDisabled())
      .toBe(true);
    await pages.client.definitions.enable('off');
    await page.goBack();
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    expect(await page.getByText('New runs cannot be started.').count()).toBe(0);
  });

  test('uses the version that the user chooses', async () => {
    await pages.client.definitions.register(ORDER.replace('Id: order', 'Id: twice'));
    await pages.client.definitions.register(PLAIN.replace('plain', 'twice'));
    const page = await pages.open('/definitions/twice/start');
    await page.getByRole('textbox', { name: 'Data as JSON' }).waitFor();
    await page.getByLabel('Version').fill('1');
    await fillOrder(page);
    await start(page);
    await startedInput(page);
    await page.getByText('v1', { exact: true }).waitFor();
  });
});
