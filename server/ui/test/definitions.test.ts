/**
 * Goal: a definition can be found, viewed, compared and edited, with the server's findings where they belong.
 */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';

const HOSTILE = '<img src=x onerror="alert(1)">/%2F"';

function approval(limit: number): string {
  return `
id: approval
description: Asks for approval
steps:
  - id: check
    stepType: Decide
    selectNextStep: { ask: data.amount > ${limit}, done: data.amount <= ${limit} }
  - id: ask
    stepType: Sequence
    saga: true
    do:
      - - id: wait
          stepType: WaitFor
          inputs: { EventName: '"approved"', EventKey: data.orderId, Timeout: 86400 }
          compensateWith: [{ id: withdraw, stepType: NoOp }]
    nextStepId: check
  - id: done
    stepType: NoOp
`;
}

describe.runIf(browserPath !== null)('the definition view', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(approval(100));
      await client.definitions.register(approval(200), {
        origin: 'github.com/acme/shop/flows@3f2c1a9',
      });
      await client.definitions.register({
        id: HOSTILE,
        description: HOSTILE,
        steps: [
          { id: HOSTILE, name: HOSTILE, stepType: 'NoOp', selectNextStep: { [HOSTILE]: 'False' } },
        ],
      });
    },
  });

  test('links from the list to a definition of any name, and shows its steps in a graph', async () => {
    const page = await pages.open('/definitions');
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
    await page.getByRole('button', { name: new RegExp('^<img.*NoOp') }).waitFor();
    await page.goto(`${pages.server.url}/ui/definitions`);
    await page.getByRole('link', { name: 'approval' }).click();
    await page.getByRole('button', { name: /^wait, WaitFor/ }).waitFor();
    await page.getByText('From github.com/acme/shop/flows@3f2c1a9').waitFor();
    // Edges are drawn after the steps that they connect have been measured.
    await expect
      .poll(() => page.locator('.edge-label').allTextContents())
      .toContain('data.amount > 200');
    await expect.poll(() => page.locator('.edge-backward').count()).toBe(1);
    await expect.poll(() => page.locator('.edge-undo').count()).toBe(1);
  });

  test('says in the list which definitions are disabled', async () => {
    await pages.client.definitions.register({
      id: 'resting',
      steps: [{ id: 'a', stepType: 'NoOp' }],
    });
    await pages.client.definitions.disable('resting');
    const page = await pages.open('/definitions');
    const mark = (id: string) =>
      page.getByRole('row', { name: new RegExp(id) }).getByText('disabled', { exact: true });
    await mark('resting').waitFor();
    expect(await mark('approval').count()).toBe(0);
    await pages.client.definitions.enable('resting');
    // The page hears of the change.
    await expect.poll(() => mark('resting').count()).toBe(0);
  });

  test('shows the members of a step that is selected with the keyboard', async () => {
    const page = await pages.open('/definitions/approval');
    const step = page.getByRole('button', { name: /^wait, WaitFor/ });
    await step.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'wait', level: 2 }).waitFor();
    expect(await step.getAttribute('aria-pressed')).toBe('true');
    await page.getByText('"data.orderId"').waitFor();
  });

  test('shows the steps as a list', async () => {
    const page = await pages.open('/definitions/approval');
    await page.getByRole('button', { name: 'List' }).click();
    await page.getByText('to ask if data.amount > 200').waitFor();
    await page.getByText('compensated by').waitFor();
  });

  test('zooms the graph with buttons', async () => {
    const page = await pages.open('/definitions/approval');
    const scale = (): Promise<string> =>
      page.locator('.react-flow__viewport').evaluate((element) => element.style.transform);
    const first = await page.getByRole('button', { name: 'Zoom out' }).waitFor().then(scale);
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await expect.poll(scale).not.toBe(first);
    const smaller = await scale();
    await page.getByRole('button', { name: 'Fit' }).click();
    await expect.poll(scale).not.toBe(smaller);
  });

  test('compares two versions, and shows the document as YAML and as JSON', async () => {
    const page = await pages.open('/definitions/approval?view=changes');
    const side = (name: 'a' | 'b', text: string) =>
      page.locator(`.cm-merge-${name} .cm-changedLine`, { hasText: text }).first();
    await side('a', 'data.amount > 100').waitFor();
    await side('b', 'data.amount > 200').waitFor();
    // In a narrow window, both texts are merged into one.
    await page.setViewportSize({ width: 900, height: 800 });
    await page.locator('.cm-deletedChunk', { hasText: 'data.amount > 100' }).waitFor();
    await page.locator('.cm-changedLine', { hasText: 'data.amount > 200' }).first().waitFor();
    await page.getByRole('button', { name: 'Document' }).click();
    await page.locator('.cm-line', { hasText: 'stepType: WaitFor' }).waitFor();
    await page.getByLabel('Format').selectOption('JSON');
    await page.locator('.cm-line', { hasText: '"stepType": "WaitFor"' }).waitFor();
    await page.getByLabel('Version').fill('1');
    await page.locator('.cm-line', { hasText: 'data.amount > 100' }).waitFor();
  });
});

describe.runIf(browserPath !== null)('the definition editor', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(approval(100));
    },
  });
  const document = { name: 'Definition document' };

  test('keeps the comments of the text that was posted', async () => {
    const posted =
      '# Why it exists\nSteps:\n  - StepType: NoOp # no work\n    Id: one\nId: noted\n';
    await pages.client.definitions.register(posted);
    const page = await pages.open('/definitions/noted/edit');
    await page.locator('.cm-line', { hasText: '# Why it exists' }).click();
    await page.keyboard.press('End');
    await page.keyboard.type(', in short');
    const publish = page.getByRole('button', { name: 'Publish version 2' });
    await page.getByText('The server found no problems.').waitFor();
    await publish.click();
    await page.getByText('Published noted as version 2.').waitFor();
    const edited = posted.replace('exists', 'exists, in short');
    expect(await pages.client.definitions.source('noted')).toBe(edited);
    await page.getByRole('button', { name: 'Document' }).click();
    await page.locator('.cm-line', { hasText: 'StepType: NoOp # no work' }).waitFor();
  });

  test('edits JSON of a program as YAML', async () => {
    const { client } = pages;
    await client.definitions.register({ id: 'made', steps: [{ id: 'one', stepType: 'NoOp' }] });
    const page = await pages.open('/definitions/made/edit');
    await page.locator('.cm-line', { hasText: 'stepType: NoOp' }).waitFor();
  });

  test('marks errors, draws the steps and publishes the next version', async () => {
    const page = await pages.open('/definitions/approval/edit');
    const editor = page.getByRole('textbox', document);
    await page.getByText('The server found no problems.').waitFor();
    await pasteText(editor, 'Id: approval\nSteps:\n  - Id: one\n    StepType: Activty\n');
    await page.getByText(/line 4, column \d+/).waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await page.locator('.graph-title', { hasText: 'one' }).waitFor();
    const store = page.getByRole('button', { name: 'Publish version 2' });
    expect(await store.isDisabled()).toBe(true);
    await pasteText(editor, 'Id: approval\nSteps:\n  - Id: one\n    StepType: NoOp\n');
    await page.getByText('The server found no problems.').waitFor();
    await store.click();
    await page.getByText('Published approval as version 2.').waitFor();
    expect((await pages.client.definitions.get('approval')).version).toBe(2);
  });

  test('marks errors of syntax, and publishes nothing that cannot be read', async () => {
    const page = await pages.open('/definitions/approval/edit');
    const publish = page.getByRole('button', { name: /^Publish version/ });
    await expect.poll(() => publish.isEnabled()).toBe(true);
    const editor = page.getByRole('textbox', document);
    await pasteText(editor, 'Id: approval\nSteps:\n  - Id: one\n    StepType: NoOp\n');
    await page.locator('.graph-title', { hasText: 'one' }).waitFor();
    await pasteText(editor, 'Id: approval\nSteps:\n  - Id: [two\n    StepType: NoOp\n');
    await page.getByText(/^Line [34]: /).waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    expect(await publish.isDisabled()).toBe(true);
  });

  test('completes members, step types and inputs, and explains them', async () => {
    // Half a word is invalid YAML, which the server reports if the page validates before the word is complete.
    pages.expectBrowserError(/400 .*\/api\/definition\/validate/);
    const page = await pages.open('/new-definition');
    const editor = page.getByRole('textbox', document);
    await pasteText(editor, 'Id: x\nSteps:\n  - Id: a\n    Step');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: 'StepType' }).waitFor();
    await pasteText(editor, 'Id: x\nSteps:\n  - Id: a\n    StepType: Wait');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: 'WaitFor' }).waitFor();
    await pasteText(
      editor,
      'Id: x\nSteps:\n  - Id: a\n    StepType: WaitFor\n    Inputs:\n      Event',
    );
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: 'EventKey' }).waitFor();
    await pasteText(editor, 'Id: x\nSteps:\n  - Id: a\n    StepType: WaitFor\n');
    await page.locator('.cm-line', { hasText: 'StepType' }).getByText('StepType').hover();
    await page.locator('.cm-tooltip-hover', { hasText: 'A built-in step type' }).waitFor();
  });

  test('converts YAML to JSON, and marks errors at a JSON pointer', async () => {
    const page = await pages.open('/new-definition');
    await page.getByRole('button', { name: 'Convert to JSON' }).click();
    await page.locator('.cm-line', { hasText: '"Steps": [' }).waitFor();
    const editor = page.getByRole('textbox', document);
    // Changing the language of the editor does not interrupt a user who continues to type.
    await editor.evaluate((element) => element.setAttribute('data-same', ''));
    await editor.focus();
    await page.locator('[data-language="json"]').waitFor();
    await page.locator('[data-same]:focus').waitFor();
    await pasteText(
      editor,
      '{"Id": "x", "Steps": [{"Id": "a", "StepType": "NoOp", "NextStepId": "gone"}]}',
    );
    await page.locator('.cm-lintRange-error', { hasText: '"gone"' }).waitFor();
    await page.getByText('there is no such step').waitFor();
  });
});
