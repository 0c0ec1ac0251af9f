/** Notifications in every state that the page shows. */
import type { StepwrightClient } from '@stepwright/sdk';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { startReceiver } from './receiver.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** `audit` has delivered, failed and waiting messages; `billing` is paused. */
export async function openNotifications(client: StepwrightClient): Promise<void> {
  const { notifications } = client;
  const receiver = await startReceiver();
  try {
    const settings = { url: receiver.url, secret: SECRET };
    await notifications.put('billing', { ...settings, on: ['completed'], definitionId: 'order' });
    await notifications.pause('billing');
    await client.definitions.register({
      id: 'invoicing',
      steps: [{ id: 'end', stepType: 'NoOp' }],
    });
    await notifications.put('audit', {
      ...settings,
      on: ['completed', 'failed'],
      definitionId: 'invoicing',
    });
    receiver.answer(200, 'thank you');
    await client.workflows.start('invoicing');
    await eventually('a message is delivered', () => hasOne('delivered'));
    receiver.answer(500, 'the disk is full');
    await notifications.test('audit');
    receiver.answer(503, 'try again later');
    await client.workflows.start('invoicing');
    await eventually('a message waits for its next attempt', () => hasOne('waiting', 1));
  } finally {
    await receiver.stop();
  }

  async function hasOne(state: 'delivered' | 'waiting', attempts = 0): Promise<boolean> {
    const { items } = await notifications.deliveries('audit', { state }).page();
    return items.some((delivery) => delivery.attempts >= attempts);
  }
}
