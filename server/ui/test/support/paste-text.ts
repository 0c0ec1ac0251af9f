/**
 * Replaces the text of an editor by pasting. Inserting whole texts with the browser's own commands would add styled
 * elements.
 */
import type { Locator } from 'playwright-core';

export async function pasteText(editor: Locator, text: string): Promise<void> {
  await editor.focus();
  await editor.press('Control+A');
  await editor.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pasted);
    element.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }, text);
}
